package cache

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/inbox"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// maxCuts is how many connections may end in a first load before a single read was answered.
const maxCuts = 5

// begin sets the watch and reads everything.
func (r *replica) begin(ctx context.Context) (err error) {
	if r.conn, err = r.inside.Conn(); err != nil {
		return &framework.OpError{Op: "addWatch", Path: r.paths.root, Err: err}
	}
	r.box, r.connected = inbox.New(r.conn)
	r.epoch = r.conn.Epoch() // if it is that of a connection to come, nothing was read on the one before
	begun := false
	defer func() { // also when a function of the user panics
		if !begun {
			cleanUp, cancel := lifecycle.CleanUp(ctx)
			defer cancel()
			r.end(cleanUp)
		}
	}()
	if err = r.subscribe(ctx); err == nil {
		err = r.load(ctx)
	}
	begun = err == nil
	return err
}

// subscribe sets the persistent watch, if the server has such.
func (r *replica) subscribe(ctx context.Context) error {
	sub := r.box.Subscription(r.paths.full, r.cfg.shape != nodeAlone)
	err := r.inside.Retry(ctx, "addWatch", r.paths.root, func(ctx context.Context, conn *zkconn.Conn) error {
		return conn.Subscribe(ctx, sub)
	})
	switch {
	case err == nil:
		r.sub = sub
	case errors.Is(err, framework.ErrUnimplemented):
		r.oneShot, r.watches, err = true, map[watchKey]*zkconn.Watch{}, nil
		r.warn("the server has no persistent watches, since it is older than ZooKeeper 3.6: a cache sets watches on every node")
	}
	return err
}

// load reads everything for the first time, over several connections if it must.
func (r *replica) load(ctx context.Context) error {
	r.requests.add(r.paths.root, get, true, 0)
	for cuts := 1; ; cuts++ {
		before := r.replies
		err := r.run(ctx, func() bool { return r.loaded || r.lost != nil || !r.connected })
		if err != nil || r.loaded {
			return err
		}
		if r.replies > before {
			cuts = 0
		}
		if cuts == maxCuts {
			return &framework.OpError{Op: "getData", Path: r.paths.root, Attempts: cuts, Err: cmp.Or(r.lost, framework.ErrConnectionLoss)}
		}
		r.lost = nil
		if err := r.reach(ctx); err != nil {
			return err
		}
	}
}

// reach waits for a connection, for as long as the client's retry policy wants.
func (r *replica) reach(ctx context.Context) error {
	return r.inside.Retry(ctx, "exists", r.paths.root, func(ctx context.Context, conn *zkconn.Conn) error {
		return conn.Do(ctx, 0, &zkconn.Call{
			Op: jute.OpExists, Req: &jute.PathWatchRequest{Path: r.paths.full}, Res: &jute.StatResponse{},
		})
	})
}

// run takes messages until one of them, or nothing to do any more, satisfies until, or ctx ends.
// It returns the error of a first load.
func (r *replica) run(ctx context.Context, until func() bool) error {
	var messages []inbox.Message
	for {
		messages = r.box.Take(messages)
		for i := range messages {
			if err := r.take(&messages[i]); err != nil {
				return err
			}
		}
		r.advance()
		if until() {
			return nil
		}
		select {
		case <-r.box.C():
		case <-r.lag.C:
			r.showOverdue()
		case <-r.again.C:
			r.requests.retry()
			r.probes, r.unasked = max(r.probes-r.unasked, 0), 0
		case <-r.retry.C:
			r.retryOut()
		case <-ctx.Done():
			return zkclient.ContextError(ctx)
		}
	}
}

// take takes one message over.
func (r *replica) take(m *inbox.Message) (err error) {
	switch m.Kind {
	case inbox.Event:
		r.event(m.Event)
	case inbox.Reply:
		err = r.reply(m)
	case inbox.Suspended, inbox.Closed:
		r.suspended()
	case inbox.Connected:
		r.restart(m.Epoch)
	}
	if err == nil {
		r.showOverdue()
	}
	return err
}

// reply takes one reply over.
func (r *replica) reply(m *inbox.Message) error {
	if _, ok := m.Tag.(syncing); ok {
		return nil // its zxid is that of no read
	}
	answered := m.Call.Zxid > 0
	if answered {
		r.replied(m.Call.Zxid)
	}
	switch tag := m.Tag.(type) {
	case *request:
		if err := r.answered(tag, m.Call); err != nil {
			return err
		}
	case probe:
		r.probed(m.Call)
	}
	if answered {
		r.showExact()
	}
	return nil
}

// probed takes over the end of a probe. When the client keeps no more requests, the next one waits: the refusal
// comes at once, and another probe would be refused as fast.
func (r *replica) probed(call *zkconn.Call) {
	if call.Err != nil && !call.Answered() && !withoutConnection(call) {
		r.unasked++
		r.again.Reset(r.pause)
		return
	}
	r.probes = max(r.probes-1, 0)
}

// advance sends what is to be sent.
func (r *replica) advance() {
	if !r.failSince.IsZero() && r.requests.failing == 0 {
		if r.kept == 0 {
			r.info("a cache can read its nodes again", "failed for", time.Since(r.failSince))
		}
		r.failSince, r.pause = time.Time{}, firstPause
		r.updateStale()
	}
	if !r.connected {
		return
	}
	r.pump()
	asked := r.output.asked()
	if asked > r.conn.LastZxid() {
		r.sync()
	}
	settled := r.requests.idle() && r.loaded && (r.changed || !r.shown.exact && r.exact())
	if asked > r.last || settled && r.probes == 0 {
		r.probe()
	}
}

// end gives the watches back. That the server has none any more is confirmed unless ctx ends, or
// the connection does, with which they go.
func (r *replica) end(ctx context.Context) {
	if r.sub != nil {
		ctx, cancel := lifecycle.Reachable(ctx, r.inside)
		_ = r.conn.Unsubscribe(ctx, r.sub)
		cancel()
	}
	for _, w := range r.watches {
		r.conn.Unwatch(w)
	}
	r.box.Close()
	r.stopTimers()
}
