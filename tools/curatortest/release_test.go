package curatortest_test

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// installed returns a folder with a release: that of ZOOKEEPER_HOME, or one whose jar names Debian's.
func installed(t *testing.T) (home string) {
	t.Helper()
	if home := os.Getenv("ZOOKEEPER_HOME"); home != "" {
		return home
	}
	const jars = "/usr/share/java/"
	if _, err := os.Stat(jars + "zookeeper.jar"); err != nil {
		curatortest.Real(t) // fails or skips the test
	}
	manifest := "Manifest-Version: 1.0\r\nClass-Path: file:" + jars + "zookeeper.jar"
	for _, name := range []string{"slf4j-simple", "netty-codec", "netty-resolver", "netty-transport-native-unix-common"} {
		manifest += "\r\n  file:" + jars + name + ".jar" // a line that begins with a space goes on with the one before
	}
	return release(t, manifest+"\r\n\r\n")
}

// release returns a folder with a release that consists of a manifest.
func release(t *testing.T, manifest string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.Mkdir(filepath.Join(home, "lib"), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(filepath.Join(home, "lib", "zookeeper.jar"))
	if err != nil {
		t.Fatal(err)
	}
	jar := zip.NewWriter(file)
	entry, err := jar.Create("META-INF/MANIFEST.MF")
	if err == nil {
		_, err = io.WriteString(entry, manifest)
	}
	if err := errors.Join(err, jar.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestRestartWith restarts a server with releases: the session and the data go on. A release that is none
// changes nothing, and one that does not start leaves the server down, until one does.
func TestRestartWith(t *testing.T) {
	t.Parallel()
	home := installed(t)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, home)
	if err != nil {
		t.Fatal(err)
	}
	e := curatortest.Real(t, curatortest.WithHome(relative), curatortest.WithSessionTimeouts(time.Second, longSession))
	m := e.Member(0)
	version := m.Version()
	if strings.Count(version, ".") != 2 {
		t.Errorf("version %q", version)
	}
	client := e.Client(t)
	if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/e"); err != nil {
		t.Fatal(err)
	}
	wantsNode := func(when string) {
		t.Helper()
		if exists, err := client.CheckExists().ForPath(t.Context(), "/e"); err != nil || !exists {
			t.Errorf("%s: the session's node: %t, %v", when, exists, err)
		}
	}
	for _, none := range []string{"", t.TempDir(), filepath.Join(home, "none")} {
		if err := m.RestartWith(none); !errors.Is(err, curatortest.ErrNotInstalled) || !strings.Contains(err.Error(), "RestartWith="+none+" ") {
			t.Errorf("%q: %v", none, err)
		}
	}
	wantsNode("without a restart")
	session := client.SessionID()
	if err := m.RestartWith(home); err != nil {
		t.Fatal(err)
	}
	wantsNode("after a restart")
	if client.SessionID() != session || m.Version() != version {
		t.Errorf("session %#x became %#x, version %q", session, client.SessionID(), m.Version())
	}
	empty := release(t, "Manifest-Version: 1.0\r\n\r\n")
	if err := m.RestartWith(empty); !errors.Is(err, curatortest.ErrNotServing) || !strings.Contains(err.Error(), "QuorumPeerMain") {
		t.Errorf("a release without a server: %v", err)
	}
	if m.Version() != "" || m.Mode() != "" {
		t.Errorf("a server that has ended has the version %q, the mode %q", m.Version(), m.Mode())
	}
	if err := m.RestartWith(relative); err != nil {
		t.Fatal(err)
	}
	m.Restart() // with the same release
	wantsNode("with the release of before")
}

// TestWithHome passes folders that are none, and the option to an embedded server.
func TestWithHome(t *testing.T) {
	for want, start := range map[error]func() error{
		curatortest.ErrInvalidOption: func() error { _, err := curatortest.NewReal(1, curatortest.WithHome("")); return err },
		curatortest.ErrNotInstalled:  func() error { _, err := curatortest.NewReal(1, curatortest.WithHome(t.TempDir())); return err },
	} {
		if err := start(); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if _, err := curatortest.New(curatortest.WithHome("/opt/zookeeper")); !errors.Is(err, curatortest.ErrInvalidOption) || !strings.Contains(err.Error(), "WithHome") {
		t.Errorf("an embedded server: %v", err)
	}
}

// TestWrongHome starts a test with a folder that has no release: it fails, with CI and without, also on a machine
// without Java.
func TestWrongHome(t *testing.T) {
	home := t.TempDir()
	javas := []string{os.Getenv("JAVA_HOME"), filepath.Join(home, "none")}
	for _, ci := range []string{"true", ""} {
		t.Setenv("CI", ci)
		for _, java := range javas {
			t.Setenv("JAVA_HOME", java)
			got := runReal(&stoppingTB{}, curatortest.WithHome(home))
			if !strings.HasPrefix(got, "fatal: ") || !strings.Contains(got, "WithHome="+home+" has no lib/*.jar") {
				t.Errorf("CI=%q, JAVA_HOME=%q: %s", ci, java, got)
			}
		}
	}
}
