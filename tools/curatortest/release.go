package curatortest

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrNotInstalled is returned by NewReal if this machine has no ZooKeeper or no Java, and by NewReal and
// Member.RestartWith if a folder has no release.
var ErrNotInstalled = errors.New("no ZooKeeper server is installed: " +
	"install one with its jars (Debian, Ubuntu: apt-get install zookeeper), " +
	"or unpack a release and set ZOOKEEPER_HOME to it")

// ErrNotServing is returned by Member.RestartWith if the server ends, or does not serve within a minute.
var ErrNotServing = errors.New("the ZooKeeper server does not serve")

// noReleaseError is the error for a folder that has no release. It is wrapped together with ErrNotInstalled.
type noReleaseError struct{ named, home string }

func (e *noReleaseError) Error() string { return e.named + "=" + e.home + " has no lib/*.jar" }

// isWrongHome tells whether err says that the folder of WithHome has no release.
func isWrongHome(err error) bool {
	var e *noReleaseError
	return errors.As(err, &e) && e.named == withHome
}

// installation is an installed ZooKeeper.
type installation struct {
	java      string
	classPath string
}

// withHome is the name of the option WithHome.
const withHome = "WithHome"

// WithHome makes real servers run the release of ZooKeeper that is unpacked in the folder home, in place
// of that in ZOOKEEPER_HOME or of Debian's package. Its jars are in home/lib, as in the archives of
// ZooKeeper, or in home. Releases from 3.5 on can be run. The start fails with [ErrNotInstalled] if the
// folder has no jars; a test is not skipped for it then. An embedded server refuses this option. See [Member.RestartWith].
// Java: the dependency of curator-test on a release of ZooKeeper, which is one for all servers.
func WithHome(home string) Option {
	return option(func(c *config) {
		if home == "" {
			c.invalid(withHome, "the folder is empty")
		}
		c.only.real = cmp.Or(c.only.real, withHome)
		c.home = home
	})
}

// RestartWith is Restart with another release of ZooKeeper, which is unpacked in the folder home, as in an
// upgrade or a downgrade of one server. The server keeps its data, its configuration and its addresses, and
// later starts run this release, too. Java: none; servers of curator-test are of one release.
//
//	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithHome(before))
//	client := ensemble.Client(t)
//	for _, member := range ensemble.Members() {
//		if err := member.RestartWith(after); err != nil {
//			t.Fatal(err)
//		}
//	}
//
// It does not fail the test, because a release may refuse what another one has written. Its error matches
//
//   - [ErrNotInstalled] if the folder has no jars, or there is no Java. The server is as it was.
//   - [ErrNotServing] if the server has ended, or does not serve within a minute; the error has the end of
//     its log, which says why. Its process has ended. Another RestartWith starts it again, if home has the
//     release of before with the data that it had, as far as the release that has failed left that as it was.
//
// In an ensemble a majority of the servers must run for this, as for Start; the one that is restarted counts.
// RestartWith can be called by several goroutines, also beside the other methods.
func (m *Member) RestartWith(home string) error {
	in, err := installationAt("RestartWith", home)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stopServer(m.process)
	m.installation = in
	if err := m.launch(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotServing, err)
	}
	if err := m.awaitServing(); err != nil {
		m.process.Kill() // it may wait for others, and serve later
		return fmt.Errorf("%w: %w", ErrNotServing, err)
	}
	return nil
}

// Version returns the version that the server reports, such as "3.9.5", or "" if it does not serve clients
// now. Network faults of this package do not affect it.
func (m *Member) Version() string {
	if m.hasEnded() {
		return ""
	}
	conn, err := net.DialTimeout("tcp", m.setup.address(), time.Second)
	if err != nil {
		return ""
	}
	answer, err := askWord(conn, "srvr")
	if err != nil {
		return ""
	}
	return versionIn(answer)
}

// versionIn returns the version in the answer to srvr. It begins with
// "Zookeeper version: 3.9.5-HASH, built on DATE".
func versionIn(answer string) string {
	_, rest, ok := strings.Cut(answer, "ersion: ")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, "-, \n"); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

// installation returns what the servers run: the release of WithHome or ZOOKEEPER_HOME, or Debian's package.
func (c config) installation() (installation, error) {
	if c.home != "" {
		return installationAt(withHome, c.home)
	}
	if home := os.Getenv("ZOOKEEPER_HOME"); home != "" {
		return installationAt("ZOOKEEPER_HOME", home)
	}
	return debianInstallation()
}

// installationAt finds a release in a folder. named says where the folder was named.
func installationAt(named, home string) (installation, error) {
	dir, err := filepath.Abs(home) // java runs in another folder
	if err != nil {
		return installation{}, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	var jars []string
	for _, pattern := range []string{"lib/*.jar", "*.jar"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return installation{}, fmt.Errorf("%w: %w", ErrNotInstalled, err)
		}
		jars = append(jars, found...)
	}
	if len(jars) == 0 || home == "" {
		return installation{}, fmt.Errorf("%w: %w", ErrNotInstalled, &noReleaseError{named, home})
	}
	java, err := findJava()
	if err != nil {
		return installation{}, err
	}
	return installation{java, strings.Join(jars, string(os.PathListSeparator))}, nil
}

// debianInstallation finds the jars of Debian's package. The manifest of the server's jar names the jars that
// it needs, but without a logger, and without some jars that netty needs for TLS and that Jetty needs for the
// AdminServer.
func debianInstallation() (installation, error) {
	java, err := findJava()
	if err != nil {
		return installation{}, err
	}
	jars := []string{
		"/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar",
		"/usr/share/java/netty-codec.jar", "/usr/share/java/netty-resolver.jar", "/usr/share/java/netty-transport-native-unix-common.jar",
		"/usr/share/java/servlet-api.jar",
	}
	if _, err := os.Stat(jars[0]); err != nil {
		return installation{}, fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	return installation{java, strings.Join(jars, string(os.PathListSeparator))}, nil
}

// findJava returns the path of the program java in JAVA_HOME, or otherwise in PATH.
func findJava() (string, error) {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	path, err := exec.LookPath(java)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotInstalled, err)
	}
	return path, nil
}
