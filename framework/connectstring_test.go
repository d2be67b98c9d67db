package framework_test

import (
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
)

// FuzzConnectString reads connect strings: they come from files and environments of users.
func FuzzConnectString(f *testing.F) {
	f.Add("zk1:2181,zk2/chroot/b")
	f.Add("[::1]:2181,[fe80::1%25eth0],10.0.0.1")
	f.Add(" zk1 , zk2:0/")
	f.Add("::1,zk:65536//")
	f.Fuzz(func(t *testing.T, text string) {
		client, err := framework.NewClient(text, retry.None())
		if err != nil {
			if client != nil || !errors.Is(err, framework.ErrInvalidOption) {
				t.Fatalf("%q: %v, %v", text, client, err)
			}
			return
		}
		servers, _, err := framework.ParseConnectString(text, false)
		if err != nil || len(servers) != strings.Count(text[:hostsEnd(text)], ",")+1 {
			t.Fatalf("%q has the servers %q, %v", text, servers, err)
		}
		for _, server := range servers {
			host, port, err := net.SplitHostPort(server)
			if n, _ := strconv.Atoi(port); err != nil || host == "" || n < 1 || n > 65535 {
				t.Errorf("%q has the server %q", text, server)
			}
		}
	})
}

// hostsEnd returns where the chroot of a connect string begins.
func hostsEnd(text string) int {
	if i := strings.IndexByte(text, '/'); i >= 0 {
		return i
	}
	return len(text)
}
