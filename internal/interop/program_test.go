package interop_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// curatorHome is a folder with the jars of a Curator that takes the place of Debian's, and of what it
// needs. make peers sets it.
var curatorHome = os.Getenv("CURATOR_JARS")

// jars are Curator's recipes and its service discovery, what they need, and a logger. The class paths in
// Debian's packages name what they need.
var jars = findJars()

func findJars() []string {
	modules := []string{curatorJar("recipes"), curatorJar("x-discovery")}
	if curatorHome == "" {
		return append(modules, "/usr/share/java/slf4j-simple.jar")
	}
	all, _ := filepath.Glob(filepath.Join(curatorHome, "*.jar")) // it is a good pattern
	return append(modules, all...)
}

// curatorJar returns the jar of a module of Curator.
func curatorJar(module string) string {
	if curatorHome == "" {
		return "/usr/share/java/curator-" + module + ".jar"
	}
	pattern := filepath.Join(curatorHome, "curator-"+module+"-[0-9]*[0-9].jar")
	if found, _ := filepath.Glob(pattern); len(found) == 1 {
		return found[0]
	}
	return pattern // who uses it says that there is no such file
}

// jvmFlags let a JVM start quickly.
var jvmFlags = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx256m"}

// launcherFlags are jvmFlags for a tool of the JDK. They more than halve the time that javac takes.
func launcherFlags() (flags []string) {
	for _, flag := range jvmFlags {
		flags = append(flags, "-J"+flag)
	}
	return flags
}

// errNotInstalled says that this machine has not got what a test needs.
var errNotInstalled = errors.New("not installed")

var errNoJava = fmt.Errorf("a JDK or Java Curator is %w: install them (Debian, Ubuntu: apt-get install "+
	"default-jdk-headless libcurator-client-java libcurator-framework-java libcurator-recipes-java libcurator-discovery-java)", errNotInstalled)

// programs are those of testdata. They are compiled once, by the first test that needs one,
// and the tests that do not kill it share one JVM that runs Peer.
var programs javaPrograms

type javaPrograms struct {
	once sync.Once
	dir  string // has the classes and the logs
	java string
	err  error

	peersOnce sync.Once
	peers     *jvm
	peersErr  error
}

// installed skips the test if err says that something is not installed, or fails it if CI
// says so, and fails it if err is another error.
func installed(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, errNotInstalled) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compiled returns the programs.
func compiled(t *testing.T) *javaPrograms {
	t.Helper()
	programs.once.Do(func() { programs.err = programs.compile() })
	installed(t, programs.err)
	return &programs
}

// sharedJVM returns the JVM that the tests share. Its clients use the server of suite.Real.
func sharedJVM(t *testing.T) *jvm {
	t.Helper()
	p, b := compiled(t), suite.Real(t)
	p.peersOnce.Do(func() { p.peers, p.peersErr = p.startPeers(b.ConnectString()) })
	installed(t, p.peersErr)
	return p.peers
}

// compile finds Java and compiles the programs.
func (p *javaPrograms) compile() error {
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
			return fmt.Errorf("%w: %w", errNoJava, err)
		}
	}
	if p.dir, err = os.MkdirTemp("", "interop-"); err != nil {
		return err
	}
	sources, err := findSources("*.java")
	if err != nil {
		return err
	}
	cmd := exec.Command(javac, slices.Concat(launcherFlags(), []string{"-proc:none", "-cp", classPath(), "-d", p.dir}, sources)...)
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compile testdata: %w\n%s", err, out)
	}
	return nil
}

// command runs a class in a JVM of its own.
func (p *javaPrograms) command(class string, args ...string) *exec.Cmd {
	return exec.Command(p.java, slices.Concat(jvmFlags, []string{"-cp", classPath(p.dir), class}, args)...)
}

// startPeers starts a JVM that runs Peer.
func (p *javaPrograms) startPeers(connectString string) (*jvm, error) {
	return startJVM(p.command("Peer", connectString, fmt.Sprint(suite.LongSession.Milliseconds())), p.dir)
}

// end ends the shared JVM and removes what was compiled.
func (p *javaPrograms) end() error {
	var err error
	if p.peers != nil {
		err = p.peers.stop()
	}
	return errors.Join(err, os.RemoveAll(p.dir))
}

// classPath joins the jars and what else is given.
func classPath(more ...string) string {
	return strings.Join(append(more, jars...), string(os.PathListSeparator))
}

// findSources returns the programs with such a name. It looks at each, so that go test
// runs the tests again when one has changed.
func findSources(pattern string) ([]string, error) {
	sources, err := filepath.Glob(filepath.Join("testdata", pattern))
	for _, source := range sources {
		if _, err := os.Stat(source); err != nil {
			return nil, err
		}
	}
	return sources, err
}

// findTool returns a tool of JAVA_HOME, or the one in the path.
func findTool(name string) (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		name = filepath.Join(home, "bin", name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNoJava, err)
	}
	return path, nil
}
