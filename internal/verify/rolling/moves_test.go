package rolling

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestShed asks AdminServers: one that has the command, one that has not, one that refuses it, and none.
func TestShed(t *testing.T) {
	const links = `<a href="/commands/ruok">ruok</a><br/>`
	serve := func(list string, status int, answer string) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/commands" && r.Method == http.MethodGet {
				_, _ = io.WriteString(w, list)
				return
			}
			body, err := io.ReadAll(r.Body)
			if err != nil || r.Method != http.MethodPost || string(body) != `{"percentage": 100}` || r.Header.Get("Authorization") != "digest super:super" {
				t.Errorf("%s %s %q %q, %v", r.Method, r.URL, body, r.Header, err)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		}))
	}
	const has = links + `<a href="/commands/shed_connections">shed_connections</a>`
	for name, tt := range map[string]struct {
		server *httptest.Server
		want   []string
	}{
		"it has it":     {serve(has, http.StatusOK, `{"connections_shed": 7, "percentage_requested": 100}`), nil},
		"it has it not": {serve(links, http.StatusOK, ""), []string{"none: the AdminServer has no such command"}},
		"it refuses":    {serve(has, http.StatusForbidden, "no\n"), []string{"status 403: no"}},
	} {
		err := shed(t.Context(), tt.server.URL)
		if errors.Is(err, errNoWay) != (name == "it has it not") {
			t.Errorf("%s: %v", name, err)
		}
		wantsError(t, err, tt.want)
		tt.server.Close()
		if err := shed(t.Context(), tt.server.URL); err == nil || errors.Is(err, errNoWay) {
			t.Errorf("no server: %v", err)
		}
	}
}

// TestEndConnections has a real server end its connections by JMX, under a client that holds a lease.
func TestEndConnections(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t)
	jmx, err := newConsole(t.Context(), t.TempDir())
	if errors.Is(err, errNoWay) && os.Getenv("CI") != "true" {
		t.Skip(err) // there is no JDK
	}
	if err != nil {
		t.Fatal(err)
	}
	client := server.Client(t, framework.WithErrorPolicy(state.SessionErrorPolicy()), framework.WithSessionTimeout(10*time.Second))
	suspended := make(chan struct{}, 10)
	client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		if s == state.Suspended {
			suspended <- struct{}{}
		}
	})
	mutex, err := locks.NewInterProcessMutex(client, "/lock")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(server.Member(0).DataDir())
	if err := jmx.end(t.Context(), folder); err != nil {
		t.Fatal(err)
	}
	<-suspended
	if err := lease.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Error(err)
	}
	if err := jmx.end(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no server has") {
		t.Errorf("no server: %v", err)
	}
}

func TestMemberIn(t *testing.T) {
	const config = "server.1=127.0.0.1:2:3:participant;127.0.0.1:4\nserver.12=127.0.0.1:5:6:participant;127.0.0.1:7\nversion=100000000"
	for id, want := range map[string]string{
		"1": "server.1=127.0.0.1:2:3:participant;127.0.0.1:4", "12": "server.12=127.0.0.1:5:6:participant;127.0.0.1:7", "2": "",
	} {
		if got := memberIn(config, id); got != want {
			t.Errorf("server %s: %q", id, got)
		}
	}
}
