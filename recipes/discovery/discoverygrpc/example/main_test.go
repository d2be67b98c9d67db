package main

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestMain(m *testing.M) { suite.Main(m) }

// lines sends each write to a channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// Two servers serve, a third program calls them, and when they have ended it says that nobody
// serves.
func TestExample(t *testing.T) {
	connect := curatortest.Start(t).ConnectString()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var servers sync.WaitGroup
	said := make(lines, 2)
	for range 2 {
		servers.Go(func() {
			if err := run(ctx, []string{"-connect", connect, "-weight", "3", "serve"}, said); err != nil {
				t.Error(err)
			}
		})
	}
	addresses := map[string]bool{}
	for range 2 {
		_, address, _ := strings.Cut(strings.TrimSpace(<-said), " at ")
		addresses[address] = true
	}

	var out strings.Builder
	if err := run(t.Context(), []string{"-connect", connect, "-n", "20", "call"}, &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		status, address, _ := strings.Cut(strings.TrimSpace(line), " from ")
		if status != "SERVING" || !addresses[address] {
			t.Errorf("%s; the servers are %v", line, addresses)
		}
	}
	if n := strings.Count(out.String(), "\n"); n != 20 {
		t.Errorf("%d replies", n)
	}

	stop()
	servers.Wait()
	err := run(t.Context(), []string{"-connect", connect, "call"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `no instance of the service health`) {
		t.Errorf("without servers: %v", err)
	}
	for _, args := range [][]string{{"-connect", connect}, {"-connect", connect, "sing"}, {"-volume", "11"}, {"-connect", "a b", "call"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
