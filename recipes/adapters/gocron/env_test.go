package curatorgocron_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	curatorgocron "github.com/go-curator/curator/recipes/adapters/gocron"
)

// host is one process of a fleet.
type host struct {
	*testing.T
	client  *framework.Client
	network *suite.Network
	locker  *curatorgocron.Locker
}

// newHost returns a host whose locker is closed at the end of the test, without waiting for WithMinHold.
func newHost(t *testing.T, b *suite.Backend, opts ...curatorgocron.LockerOption) *host {
	t.Helper()
	client, network := b.Client(t)
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	locker, err := curatorgocron.NewLocker(client, b.Path("jobs"), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := locker.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return &host{t, client, network, locker}
}

func (h *host) lock(key string) gocron.Lock {
	h.Helper()
	lock, err := h.locker.Lock(h.Context(), key)
	if err != nil {
		h.Fatal(err)
	}
	return lock
}

// wantRefused sees that Lock fails.
func (h *host) wantRefused(key string, wants ...error) {
	h.Helper()
	lock, err := h.locker.Lock(h.Context(), key)
	if lock != nil {
		h.Errorf("a lock beside the error %v", err)
	}
	suite.WantErr(h.T, err, wants...)
}

func (h *host) wantUnlocked(lock gocron.Lock, wants ...error) {
	h.Helper()
	err := lock.Unlock(h.Context())
	if len(wants) == 0 && err != nil {
		h.Error("unlock:", err)
	}
	for _, want := range wants {
		if !errors.Is(err, want) {
			h.Errorf("unlock: %v, want %v", err, want)
		}
	}
}

// awaitLock waits until a lock is free, and takes it.
func (h *host) awaitLock(key string) (lock gocron.Lock) {
	h.Helper()
	suite.Eventually(h.T, "the lock of "+key, func() bool {
		var err error
		lock, err = h.locker.Lock(h.Context(), key)
		return err == nil
	})
	return lock
}

// pause waits for a time, in which nothing is to happen that a test could wait for.
func pause(d time.Duration) { <-time.After(d) }
