package interop_test

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

// findKazoo returns the first Python that has kazoo: the one in the path may be another
// one than that of the system, which its packages are for. The environment may name one instead, as
// make peers does.
var findKazoo = sync.OnceValues(func() (string, error) {
	pythons := []string{"python3", "/usr/bin/python3"}
	if python := os.Getenv("KAZOO_PYTHON"); python != "" {
		pythons = []string{python}
	}
	var reason error
	for _, name := range pythons {
		python, err := exec.LookPath(name)
		if err == nil {
			err = exec.Command(python, "-c", "import kazoo").Run()
		}
		if err == nil {
			return python, nil
		}
		reason = fmt.Errorf("%s: %w", name, err)
	}
	return "", fmt.Errorf("a Python with kazoo is %w (Debian, Ubuntu: apt-get install python3-kazoo): %w", errNotInstalled, reason)
})

// Kazoo, the client for Python.
func TestKazoo(t *testing.T) {
	t.Parallel()
	python, err := findKazoo()
	installed(t, err)
	sources, err := findSources("kazoo_checks.py")
	if err != nil {
		t.Fatal(err)
	}
	onServers(t, func(s *server) {
		s.check(exec.Command(python, append(sources, s.relay.Address(), s.root)...))
	})
}
