package zookeeper

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/go-curator/curator/tools/programs/scenario"
)

const (
	settle  = 20 * time.Second
	members = "/services/calc"
)

// reader is a discovery of the members of a serverset, with what it has told last of each.
type reader struct {
	t      *testing.T
	server *scenario.Server
	link   *scenario.Link
	groups chan []*targetgroup.Group
	seen   map[string]int // the number of targets by source
	made   int
}

func newReader(t *testing.T) *reader {
	t.Helper()
	s := scenario.Start(t)
	r := &reader{t: t, server: s, link: s.Link(), groups: make(chan []*targetgroup.Group), seen: map[string]int{}}
	r.server.Create(members, "")
	d, err := NewServersetDiscovery(&ServersetSDConfig{
		Servers: []string{r.link.Address()}, Paths: []string{members}, Timeout: model.Duration(4 * time.Second),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.Run(ctx, r.groups)
	}()
	t.Cleanup(func() {
		r.quiet() // the discovery can hang if it ends while it has something to tell
		cancel()
		select {
		case <-ended:
		case <-time.After(settle):
			t.Error("the discovery has not ended")
		}
	})
	r.appears(r.create())
	return r
}

func (r *reader) create() (path string) {
	r.t.Helper()
	r.made++
	path = fmt.Sprintf("%s/member%d", members, r.made)
	r.server.Create(path, fmt.Sprintf(`{"serviceEndpoint":{"host":"10.0.0.%d","port":8080},"status":"ALIVE"}`, r.made))
	return path
}

func (r *reader) appears(path string)    { r.t.Helper(); r.becomes(path, 1) }
func (r *reader) disappears(path string) { r.t.Helper(); r.becomes(path, 0) }

func (r *reader) becomes(path string, targets int) {
	r.t.Helper()
	for end := time.After(settle); ; {
		if n, told := r.seen[path]; told && n == targets {
			return
		}
		select {
		case groups := <-r.groups:
			for _, g := range groups {
				r.seen[g.Source] = len(g.Targets)
			}
		case <-end:
			r.t.Fatalf("not within %v: %s has %d targets; told: %v", settle, path, targets, r.seen)
		}
	}
}

// quiet returns when nothing was told for a second.
func (r *reader) quiet() {
	for {
		select {
		case <-r.groups:
		case <-time.After(time.Second):
			return
		}
	}
}

// settles fails the test unless members that come and go are seen.
func (r *reader) settles() {
	r.t.Helper()
	path := r.create()
	r.appears(path)
	r.server.Delete(path)
	r.disappears(path)
}

// After each fault the discovery must see what has changed meanwhile, and what changes then.
func TestFaults(t *testing.T) {
	t.Run("connection lost", func(t *testing.T) {
		r := newReader(t)
		r.link.Cut()
		r.settles()
	})
	t.Run("cut off", func(t *testing.T) {
		r := newReader(t)
		heal := r.link.Silence()
		path := r.create()
		<-time.After(2 * time.Second)
		heal()
		r.appears(path)
		r.settles()
	})
	t.Run("session expired", func(t *testing.T) {
		r := newReader(t)
		r.server.ExpireSession(r.link.Session())
		r.settles()
	})
	t.Run("reply lost", func(t *testing.T) {
		r := newReader(t)
		lost := r.link.LoseReply("getChildren", members)
		path := r.create()
		select {
		case <-lost:
		case <-time.After(settle):
			t.Fatal("no request whose reply could be lost")
		}
		r.appears(path)
		r.settles()
	})
	t.Run("server restarted", func(t *testing.T) {
		r := newReader(t)
		r.server.Restart()
		r.settles()
	})
}
