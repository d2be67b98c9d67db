package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

func TestFollowsTheNumber(t *testing.T) {
	server := curatortest.Start(t, curatortest.WithNodes(map[string]string{"/fleet/wanted": "3"}))
	client := server.Client(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- run(ctx, server.ConnectString(), 5*time.Millisecond) }()
	}
	await(t, server, 3)
	for _, wanted := range []string{"5", "1", "0", "2"} {
		if _, err := client.SetData().ForPath(t.Context(), "/fleet/wanted", []byte(wanted)); err != nil {
			t.Fatal(err)
		}
		await(t, server, int(wanted[0]-'0'))
	}
	cancel()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A leader whose session has ended changes nothing, although it has not noticed.
func TestDeposedLeaderIsRefused(t *testing.T) {
	server := curatortest.Start(t, curatortest.WithNodes(map[string]string{"/fleet/wanted": "3"}))
	old, other := server.Client(t), server.Client(t)
	lease := lead(t, old)
	if err := (controller{client: old}).reconcile(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	server.ExpireSession(old.SessionID())
	next := lead(t, other)
	if _, err := other.SetData().ForPath(t.Context(), "/fleet/wanted", []byte("9")); err != nil {
		t.Fatal(err)
	}
	if err := (controller{client: old}).reconcile(t.Context(), lease); !errors.Is(err, locks.ErrNotHeld) {
		t.Errorf("the deposed leader's write: %v", err)
	}
	if n := len(server.Children("/fleet/workers")); n != 3 {
		t.Errorf("%d workers", n)
	}
	if err := (controller{client: other}).reconcile(t.Context(), next); err != nil {
		t.Error(err)
	}
	await(t, server, 9)
	if err := next.Release(t.Context()); err != nil {
		t.Error(err)
	}
	_ = lease.Release(t.Context()) // of a lock that is lost
}

// lead returns the lease of a term, which is that of a lock.
func lead(t *testing.T, client *framework.Client) *locks.Lease {
	t.Helper()
	mutex, err := locks.NewInterProcessMutex(client, "/fleet/leader")
	if err != nil {
		t.Fatal(err)
	}
	lease, err := mutex.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

// await waits until there are so many workers.
func await(t *testing.T, server *curatortest.Server, want int) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for len(server.Children("/fleet/workers")) != want {
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatalf("%q, want %d", server.Children("/fleet/workers"), want)
		}
	}
}
