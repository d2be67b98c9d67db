package latch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

const dir = "/latches/ready"

// env is a server in virtual time.
type env struct {
	*testing.T
	server *curatortest.Server
}

func virtual(t *testing.T, test func(e *env)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(&env{t, curatortest.Start(t, curatortest.Virtual())})
	})
}

// user is one process that uses the latch.
type user struct {
	*Latch
	client *framework.Client
}

func (e *env) user() user {
	e.Helper()
	client := e.server.Client(e)
	if err := client.BlockUntilConnected(e.Context()); err != nil {
		e.Fatal(err)
	}
	l := New(client, dir)
	e.Cleanup(l.Close)
	return user{l, client}
}

// waits begins a Wait.
func (u user) waits(ctx context.Context) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- u.Wait(ctx) }()
	synctest.Wait()
	return ended
}

func (e *env) set(u user) {
	e.Helper()
	if err := u.Set(e.Context()); err != nil {
		e.Fatal("set:", err)
	}
}

func (e *env) reset(u user) {
	e.Helper()
	if err := u.Reset(e.Context()); err != nil {
		e.Fatal("reset:", err)
	}
}

// wantWaiting sees that no Wait returns in ten minutes.
func (e *env) wantWaiting(all ...<-chan error) {
	e.Helper()
	time.Sleep(10 * time.Minute)
	e.wantNone(all...)
}

// wantNone sees that no Wait has returned.
func (e *env) wantNone(all ...<-chan error) {
	e.Helper()
	synctest.Wait()
	for i, ended := range all {
		select {
		case err := <-ended:
			e.Fatalf("waiter %d has returned: %v", i, err)
		default:
		}
	}
}

// wantPassed sees that every Wait returns nil within two minutes.
func (e *env) wantPassed(all ...<-chan error) { e.Helper(); e.wantEnded(nil, all...) }

// wantEnded sees that every Wait ends with an error within two minutes.
func (e *env) wantEnded(want error, all ...<-chan error) {
	e.Helper()
	late := time.After(2 * time.Minute)
	for i, ended := range all {
		select {
		case err := <-ended:
			if !errors.Is(err, want) {
				e.Errorf("waiter %d: %v, want %v", i, err, want)
			}
		case <-late:
			e.Fatalf("waiter %d waits", i)
		}
	}
}

// wantSet sees whether the latch is set, for the server and for a new waiter.
func (e *env) wantSet(want bool) {
	e.Helper()
	synctest.Wait()
	if n := len(e.server.Children(dir)); (n > 0) != want {
		e.Errorf("%d children, want the latch set: %t", n, want)
	}
	ctx, cancel := context.WithTimeout(e.Context(), time.Second)
	defer cancel()
	if err := e.user().Wait(ctx); (err == nil) != want {
		e.Errorf("a new waiter: %v, want the latch set: %t", err, want)
	}
}

// wantWatches counts the watches at the server.
func (e *env) wantWatches(want int) {
	e.Helper()
	synctest.Wait()
	if n := e.server.Watches(); n != want {
		e.Errorf("%d watches, want %d", n, want)
	}
}
