package interop_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
)

// jars are Curator's recipes, whose own class path in Debian's package names what they
// need, and a logger.
var jars = []string{"/usr/share/java/curator-recipes.jar", "/usr/share/java/slf4j-simple.jar"}

var errNotInstalled = errors.New("no Java Curator or no JDK is installed: " +
	"install them (Debian, Ubuntu: apt-get install default-jdk-headless " +
	"libcurator-client-java libcurator-framework-java libcurator-recipes-java)")

// program is testdata/Peer.java. It is compiled once, by the first test that needs it,
// and the tests that do not kill it share one JVM that runs it.
var program peerProgram

type peerProgram struct {
	once   sync.Once
	dir    string // has the classes and the logs
	java   string
	err    error
	shared *jvm
}

// longSession is the longest session that the server grants: for clients that are to
// outlive the pauses of a slow machine.
const longSession = 20 * suite.Tick

// sharedJVM returns the JVM that the tests share. Without Java or Curator it skips the
// test, or fails it if CI says so.
func sharedJVM(t *testing.T, b *suite.Backend) *jvm {
	t.Helper()
	program.once.Do(func() {
		program.err = program.compile()
		if program.err == nil {
			program.shared, program.err = program.start(b.ConnectString(), longSession)
		}
	})
	if errors.Is(program.err, errNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(program.err)
	}
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.shared
}

// compile finds Java and compiles the program.
func (p *peerProgram) compile() error {
	var err error
	if p.java, err = findTool("java"); err != nil {
		return err
	}
	javac, err := findTool("javac")
	if err != nil {
		return err
	}
	for _, jar := range jars {
		if _, err := os.Stat(jar); err != nil {
			return fmt.Errorf("%w: %w", errNotInstalled, err)
		}
	}
	if p.dir, err = os.MkdirTemp("", "interop-"); err != nil {
		return err
	}
	cmd := exec.Command(javac, "-proc:none", "-cp", classPath(), "-d", p.dir, filepath.Join("testdata", "Peer.java"))
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile Peer.java: %w\n%s", err, out)
	}
	return nil
}

// start runs the program in a JVM of its own.
func (p *peerProgram) start(connectString string, session time.Duration) (*jvm, error) {
	cmd := exec.Command(p.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx256m",
		"-cp", classPath(p.dir), "Peer", connectString, fmt.Sprint(session.Milliseconds()))
	return startJVM(cmd, p.dir)
}

// end ends the shared JVM and removes what was compiled.
func (p *peerProgram) end() error {
	var err error
	if p.shared != nil {
		err = p.shared.stop()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// classPath joins the jars and what else is given.
func classPath(more ...string) string {
	return strings.Join(append(more, jars...), string(os.PathListSeparator))
}

// findTool returns a tool of JAVA_HOME, or the one in the path.
func findTool(name string) (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		name = filepath.Join(home, "bin", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNotInstalled, err)
	}
	return path, nil
}
