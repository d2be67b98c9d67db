package rolling

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// errNoWay is matched by the error about a way to move clients that there is not.
var errNoWay = errors.New("none")

// superuser is the digest of the superuser of curatortest.WithReconfig.
const superuser = "super:super"

// shed asks an AdminServer, at a URL, to end all connections of its server's clients. ZooKeeper's main branch has
// this command since March 2026 (ZOOKEEPER-5015), and needs all permissions on the root for it.
func shed(ctx context.Context, admin string) error {
	const command = "/commands/shed_connections"
	list, _, err := ask(ctx, http.MethodGet, admin+"/commands", "")
	if err != nil {
		return err
	}
	if !strings.Contains(string(list), command) {
		return fmt.Errorf("%w: the AdminServer has no such command", errNoWay)
	}
	answer, status, err := ask(ctx, http.MethodPost, admin+command, `{"percentage": 100}`)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("shed_connections: status %d: %s", status, bytes.TrimSpace(answer))
	}
	return err
}

// ask sends a request to an AdminServer.
func ask(ctx context.Context, method, url, body string) (answer []byte, status int, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", "digest "+superuser)
	req.Close = true // there is hardly ever another one
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return answer, resp.StatusCode, err
}

//go:embed java/EndConnections.java
var endConnections []byte

// console ends connections by JMX, with the operation terminateConnection that every release has. It needs a JDK.
type console struct {
	java, jar string
}

// newConsole compiles the program into a folder. Without a JDK the error matches errNoWay.
func newConsole(ctx context.Context, dir string) (console, error) {
	var tools [2]string
	for i, name := range []string{"java", "javac"} {
		if home := os.Getenv("JAVA_HOME"); home != "" {
			name = filepath.Join(home, "bin", name)
		}
		var err error
		if tools[i], err = exec.LookPath(name); err != nil {
			return console{}, fmt.Errorf("%w: JMX needs a JDK: %w", errNoWay, err)
		}
	}
	source := filepath.Join(dir, "EndConnections.java")
	if err := os.WriteFile(source, endConnections, 0o600); err != nil {
		return console{}, err
	}
	compile := exec.CommandContext(ctx, tools[1], "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", dir, source)
	if out, err := compile.CombinedOutput(); err != nil {
		return console{}, fmt.Errorf("compile %s: %w\n%s", source, err, out)
	}
	class, err := os.ReadFile(filepath.Join(dir, "EndConnections.class"))
	if err != nil {
		return console{}, err
	}
	c := console{tools[0], filepath.Join(dir, "end.jar")}
	return c, writeJar(c.jar, "Manifest-Version: 1.0\r\nAgent-Class: EndConnections\r\n\r\n", class)
}

// writeJar writes a jar with one class.
func writeJar(path, manifest string, class []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	jar := zip.NewWriter(file)
	for name, content := range map[string][]byte{"META-INF/MANIFEST.MF": []byte(manifest), "EndConnections.class": class} {
		entry, e := jar.Create(name)
		if e == nil {
			_, e = entry.Write(content)
		}
		err = errors.Join(err, e)
	}
	return errors.Join(err, jar.Close(), file.Close())
}

// end ends all connections of the server whose configuration is in a folder.
func (c console) end(ctx context.Context, folder string) error {
	cmd := exec.CommandContext(ctx, c.java, "-XX:TieredStopAtLevel=1", "-cp", c.jar, "EndConnections", filepath.Join(folder, "zoo.cfg"), c.jar)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("end connections by JMX: %w\n%s", err, out)
	}
	return nil
}
