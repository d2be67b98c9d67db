package zk

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-kit/kit/sd"

	"github.com/go-curator/curator/tools/programs/scenario"
)

const settle = 20 * time.Second

// registry is a service with one instance that registers itself, and a reader.
type registry struct {
	t         *testing.T
	server    *scenario.Server
	writer    *scenario.Link
	reader    *scenario.Link
	registrar *Registrar
	instancer *Instancer
	others    atomic.Int32
}

const service = "/services/calc"

func newRegistry(t *testing.T) *registry {
	t.Helper()
	s := scenario.Start(t)
	r := &registry{t: t, server: s, writer: s.Link(), reader: s.Link()}
	r.registrar = NewRegistrar(r.connect(r.writer), Service{Path: "/services", Name: "calc", Data: []byte("one")}, logger)
	var err error
	if r.instancer, err = NewInstancer(r.connect(r.reader), service, logger); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.instancer.Stop)
	return r
}

func (r *registry) connect(link *scenario.Link) Client {
	r.t.Helper()
	c, err := NewClient([]string{link.Address()}, logger)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(c.Stop)
	return c
}

func (r *registry) sees(want ...string) {
	r.t.Helper()
	slices.Sort(want)
	var last sd.Event
	defer func() {
		if r.t.Failed() {
			r.t.Logf("the reader has %v, the server %v", last, r.server.Children(service))
		}
	}()
	scenario.Within(r.t, settle, fmt.Sprintf("the reader sees %v", want), func() bool {
		last = r.instancer.state()
		got := slices.Sorted(slices.Values(last.Instances))
		return last.Err == nil && slices.Equal(got, want)
	})
}

// settles fails the test unless the reader sees the instance once, and sees another one come and go.
func (r *registry) settles() {
	r.t.Helper()
	r.sees("one")
	other := fmt.Sprintf("%s/other%d", service, r.others.Add(1))
	r.server.Create(other, "two")
	r.sees("one", "two")
	r.server.Delete(other)
	r.sees("one")
}

// A reader must see the instance after each fault, and what changes then. The program does not register again
// by itself, so that an instance must live as long as its session.
func TestFaults(t *testing.T) {
	registered := func(t *testing.T) *registry {
		t.Helper()
		r := newRegistry(t)
		r.registrar.Register()
		r.sees("one")
		return r
	}
	t.Run("connection lost", func(t *testing.T) {
		r := registered(t)
		r.writer.Cut()
		r.reader.Cut()
		r.settles()
	})
	t.Run("session expired", func(t *testing.T) {
		r := registered(t)
		r.server.ExpireSession(r.writer.Session())
		r.sees()
		r.settles()
	})
	t.Run("session of the reader expired", func(t *testing.T) {
		r := registered(t)
		r.server.ExpireSession(r.reader.Session())
		r.settles()
	})
	t.Run("reply lost", func(t *testing.T) {
		r := newRegistry(t)
		lost := r.writer.LoseReply("create", service+"/")
		r.registrar.Register()
		await(t, lost)
		r.settles()
	})
	t.Run("reply of a read lost", func(t *testing.T) {
		r := registered(t)
		lost := r.reader.LoseReply("getChildren", service)
		r.server.Create(service+"/other", "two")
		await(t, lost)
		r.sees("one", "two")
		r.server.Delete(service + "/other")
		r.settles()
	})
	t.Run("server restarted", func(t *testing.T) {
		r := registered(t)
		r.server.Restart()
		r.settles()
	})
}

func await(t *testing.T, lost <-chan struct{}) {
	t.Helper()
	select {
	case <-lost:
	case <-time.After(settle):
		t.Fatal("no request whose reply could be lost")
	}
}
