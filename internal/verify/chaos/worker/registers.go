package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/internal/verify/chaos/store"
	"github.com/go-curator/curator/internal/wait"
)

// A register is a text that is read and replaced under a lease, by a text that names the
// operation. So the history tells which change has replaced which.

// writeFenced changes a register of the store, which checks the token.
func writeFenced(key string) func(ctx context.Context, h *hold) {
	return func(ctx context.Context, h *hold) {
		e := history.Event{Workload: h.workload, Op: h.op, Key: "store " + key, Text: h.text()}
		h.noteWrite(e, history.Write)
		before, err := h.w.store.Claim(key, h.lease.Token())
		if err != nil {
			h.noteWrite(e, history.Unwritten)
			return
		}
		e.Before = before
		h.think(ctx)
		switch err := h.w.store.Write(key, h.lease.Token(), e.Text); {
		case err == nil:
			h.noteWrite(e, history.Wrote)
		case errors.Is(err, store.ErrFenced):
			h.noteWrite(e, history.Unwritten)
		default:
			h.noteWrite(e, history.Doubtful)
		}
	}
}

// registerTimeout bounds the requests to ZooKeeper for one change.
const registerTimeout = 5 * time.Second

// writeGuarded changes a node in a transaction that checks the lease.
func writeGuarded(node string) func(ctx context.Context, h *hold) {
	return func(ctx context.Context, h *hold) {
		ctx, cancel := context.WithTimeout(h.lease.Bind(ctx), registerTimeout)
		defer cancel()
		e := history.Event{Workload: h.workload, Op: h.op, Key: "node " + node, Text: h.text()}
		h.noteWrite(e, history.Write)
		before, err := h.w.client.GetData().ForPath(ctx, node)
		if err != nil {
			h.noteWrite(e, history.Unwritten)
			return
		}
		e.Before = string(before)
		h.think(ctx)
		_, err = h.lease.Guard(ctx, h.w.client.TransactionOp().SetData().ForPath(node, []byte(e.Text)))
		switch {
		case err == nil:
			h.noteWrite(e, history.Wrote)
		case framework.MaybeApplied(err):
			h.noteWrite(e, history.Doubtful)
		default:
			h.noteWrite(e, history.Unwritten)
		}
	}
}

// think waits between the read and the write of a register, mostly shortly: in the time in which the
// lease may be lost.
func (h *hold) think(ctx context.Context) {
	_ = wait.For(ctx, length(rand.New(rand.NewPCG(h.w.Seed, uint64(h.op))))/2) // if ctx has ended, the write tells
}

func (h *hold) noteWrite(e history.Event, kind history.Kind) {
	e.Kind = kind
	h.w.note(e)
}
