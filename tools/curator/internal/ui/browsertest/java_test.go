package browsertest

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// jars are the jar of Curator's recipes and a logger. In Debian's package, the manifest of the first
// names the jars that it needs.
var jars = []string{"/usr/share/java/curator-recipes.jar", "/usr/share/java/slf4j-simple.jar"}

// holder is a program of Java Curator that takes a mutex.
type holder struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
}

// newHolder starts the program.
func newHolder(t *testing.T, connect, path string) *holder {
	t.Helper()
	java, err := exec.LookPath("java")
	if _, statErr := os.Stat(jars[0]); err != nil || statErr != nil {
		missing(t, "Java Curator: apt-get install default-jdk-headless libcurator-recipes-java")
	}
	cmd := exec.Command(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx256m", "-cp", strings.Join(jars, ":"), "testdata/Holder.java", connect, path)
	h := &holder{t: t}
	if h.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	h.lines = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() }) // it fails if the process has ended
	t.Cleanup(func() {
		h.in.Close()
		if err := cmd.Wait(); err != nil && !t.Failed() {
			t.Errorf("the Java program: %v", err)
		}
		late.Stop()
	})
	return h
}

// until waits until the program prints a word.
func (h *holder) until(word string) {
	h.t.Helper()
	for h.lines.Scan() {
		if h.lines.Text() == word {
			return
		}
	}
	h.t.Fatalf("the Java program has not said %q", word)
}

// release makes the program release its mutex.
func (h *holder) release() {
	h.t.Helper()
	if _, err := io.WriteString(h.in, "\n"); err != nil {
		h.t.Fatal(err)
	}
}
