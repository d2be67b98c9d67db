package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/tools/bench/compare/internal/load"
	"github.com/go-curator/curator/tools/bench/compare/internal/service"
	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/protocol"
)

// TestReaderPassesWriter lets a second reader come while a writer waits for the first one. PostgreSQL
// grants the lock to the reader, as docs/benchmarks says.
func TestReaderPassesWriter(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait) // runs after the connections were closed
	p := start(ctx, t)
	if p == nil {
		return
	}
	clients, err := p.take(ctx, 4)
	if err != nil {
		t.Fatal(err)
	}
	writer, try, err := p.kind.lock(ctx, clients[1], "row")
	if err != nil {
		t.Fatal(err)
	}
	first := p.reads(ctx, t, 0, "for share")
	if _, err := try(ctx); !errors.Is(err, load.ErrBusy) {
		t.Errorf("a writer does not wait for a reader: %v", err)
	}
	wg.Go(func() {
		if _, err := load.Wait(ctx, writer); err != nil {
			t.Error("the writer:", err)
		}
	})
	if _, err := p.queued(ctx, protocol.Request{}); err != nil {
		t.Error(err)
	}
	second := p.reads(ctx, t, 2, "for share nowait")
	for _, release := range []load.Op{first, second} {
		if err := release(ctx); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
}

// start returns a peer with its own server, nil if PostgreSQL is not installed.
func start(ctx context.Context, t *testing.T) *peer {
	t.Helper()
	server, err := service.PostgreSQL(ctx)
	if absent := new(installed.AbsentError); errors.As(err, &absent) {
		t.Log(err)
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	p := &peer{address: server.Address(), kind: kinds["update"]}
	t.Cleanup(func() {
		if err := errors.Join(p.close(context.WithoutCancel(ctx)), server.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := p.createTables(ctx); err != nil {
		t.Fatal(err)
	}
	return p
}

// reads makes a client select the row in one of the ways that lock it.
func (p *peer) reads(ctx context.Context, t *testing.T, client int, way string) load.Op {
	t.Helper()
	release, err := selected(ctx, p.clients[client], "row", way)
	if err != nil {
		t.Fatalf("client %d, %s: %v", client, way, err)
	}
	return release
}
