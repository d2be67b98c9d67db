// Package java has the benchmark's peer for Java Curator.
package java

import (
	"context"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

//go:embed *.java
var sources embed.FS

const install = "Debian, Ubuntu: apt-get install default-jdk-headless libcurator-client-java " +
	"libcurator-framework-java libcurator-recipes-java libcurator-discovery-java"

// jars are the jars of Curator's recipes and service discovery, and a logger. In Debian's packages the
// manifests of the first two name the jars that they need.
var jars = []string{"/usr/share/java/curator-recipes.jar", "/usr/share/java/curator-x-discovery.jar", "/usr/share/java/slf4j-simple.jar"}

// flags of the JVM. Its compilers have their default settings, as in production.
var flags = []string{"-Xshare:auto", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"}

// quick are flags of javac's own JVM. Without the second compiler it takes less than half the time.
var quick = []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"}

// Program compiles the peer into dir, which must exist until the peer has ended, and returns its
// command. The address is a connect string. The error is an [*installed.AbsentError] if a part of
// Java or Java Curator is missing.
func Program(ctx context.Context, dir, address string) (*exec.Cmd, error) {
	java, err := tool("java")
	if err != nil {
		return nil, err
	}
	javac, err := tool("javac")
	if err != nil {
		return nil, err
	}
	for _, jar := range jars {
		if _, err := os.Stat(jar); err != nil {
			return nil, &installed.AbsentError{Name: "Java Curator", Install: install, Err: err}
		}
	}
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, err
	}
	classPath := strings.Join(jars, string(os.PathListSeparator))
	compile := append(append([]string{}, quick...), "-proc:none", "-cp", classPath, "-sourcepath", dir, "-d", dir, filepath.Join(dir, "BenchPeer.java"))
	if _, err := installed.Output(exec.CommandContext(ctx, javac, compile...)); err != nil {
		return nil, err
	}
	args := append(append([]string{}, flags...), "-cp", dir+string(os.PathListSeparator)+classPath, "BenchPeer", address)
	return exec.CommandContext(context.WithoutCancel(ctx), java, args...), nil // ctx bounds only the start
}

// tool returns the path of a tool in JAVA_HOME, or otherwise in PATH.
func tool(name string) (string, error) {
	var directories []string
	if home := os.Getenv("JAVA_HOME"); home != "" {
		directories = append(directories, filepath.Join(home, "bin"))
	}
	return installed.Program(name, install, directories...)
}
