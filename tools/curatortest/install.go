package curatortest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ErrNotInstalled is returned by NewReal if this machine has no ZooKeeper or no Java.
var ErrNotInstalled = errors.New("no ZooKeeper server is installed: " +
	"install one with its jars (Debian, Ubuntu: apt-get install zookeeper), " +
	"or unpack a release and set ZOOKEEPER_HOME to it")

// installation is the installed ZooKeeper.
type installation struct {
	java      string
	classPath string
}

// findInstallation finds a release in ZOOKEEPER_HOME, or the jars of Debian's package. The manifest of
// Debian's jar names the jars that it needs, but without a logger, and without some jars that netty
// needs for TLS and that Jetty needs for the AdminServer.
func findInstallation() (installation, error) {
	java, err := findJava()
	if err != nil {
		return installation{}, err
	}
	if home := os.Getenv("ZOOKEEPER_HOME"); home != "" {
		var jars []string
		for _, pattern := range []string{"lib/*.jar", "*.jar"} {
			found, err := filepath.Glob(filepath.Join(home, pattern))
			if err != nil {
				return installation{}, fmt.Errorf("%w: %w", ErrNotInstalled, err)
			}
			jars = append(jars, found...)
		}
		if len(jars) == 0 {
			return installation{}, fmt.Errorf("%w: ZOOKEEPER_HOME=%s has no lib/*.jar", ErrNotInstalled, home)
		}
		return installation{java, strings.Join(jars, string(os.PathListSeparator))}, nil
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
