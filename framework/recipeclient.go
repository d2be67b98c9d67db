package framework

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/recipeapi"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

func init() { //nolint:gochecknoinits // recipeapi cannot import this package
	recipeapi.Of = func(client any) recipeapi.Client {
		c, _ := client.(*Client)
		return recipeClient{c}
	}
}

// recipeClient is a client as the recipes see it.
type recipeClient struct{ c *Client }

var _ recipeapi.Client = recipeClient{}

func (r recipeClient) Identity() any {
	if r.c == nil {
		return nil
	}
	return r.c.core
}

func (r recipeClient) Shared(key any, create func() any) any {
	if value, ok := r.c.core.shared.Load(key); ok {
		return value
	}
	value, _ := r.c.core.shared.LoadOrStore(key, create())
	return value
}

func (r recipeClient) ServerPath(path string) (string, error) {
	if r.c == nil || r.c.core == nil {
		return "", errNilClient
	}
	return r.c.fix(path, false)
}

func (r recipeClient) ClientPath(full string) string { return r.c.unfix(full) }

func (r recipeClient) Conn() (*zkconn.Conn, error) {
	if r.c == nil || r.c.core == nil {
		return nil, errNilClient
	}
	return r.c.core.connection(false)
}

func (r recipeClient) Retry(ctx context.Context, op, path string, fn func(ctx context.Context, conn *zkconn.Conn) error) error {
	return r.c.run(ctx, operation{name: op, path: path, repeat: true, missing: true}, fn)
}

func (r recipeClient) Pause(ctx context.Context, op, path string, err error) error {
	return r.Retry(ctx, op, path, func(context.Context, *zkconn.Conn) error {
		failed := err
		err = nil // the second try succeeds
		return failed
	})
}

func (r recipeClient) Decompress(path string, data []byte) ([]byte, error) {
	return r.c.core.cfg.compression.Decompress(path, data)
}

func (r recipeClient) CreateAndList(ctx context.Context, builder any, path string, sequential bool) (recipeapi.Created, *recipeapi.PendingDelete, error) {
	b, err := r.contender(builder)
	if err != nil {
		return recipeapi.Created{}, nil, err
	}
	if !sequential {
		b.p.mode = Ephemeral
	}
	return b.p.create(ctx, b.c, path, true)
}

func (r recipeClient) Create(ctx context.Context, builder any, path string) (recipeapi.Created, *recipeapi.PendingDelete, error) {
	b, err := r.contender(builder)
	if err != nil {
		return recipeapi.Created{}, nil, err
	}
	return b.p.create(ctx, b.c, path, false)
}

// contender returns a builder of contenders' nodes.
func (r recipeClient) contender(builder any) (CreateBuilder, error) {
	switch b, _ := builder.(CreateBuilder); {
	case b.c != r.c:
		return b, fmt.Errorf("%w: the builder of a contender's node is another client's", ErrInvalidBuilder)
	case !b.p.protection || b.p.mode != EphemeralSequential:
		return b, fmt.Errorf("%w: a contender's node needs protection, and is ephemeral and sequential", ErrInvalidBuilder)
	default:
		return b, nil
	}
}

func (r recipeClient) CreateGroup(ctx context.Context, builder any, path string, n int) ([]recipeapi.Created, []*recipeapi.PendingDelete, error) {
	b, err := r.contender(builder)
	if err != nil {
		return nil, nil, err
	}
	return b.p.createGroup(ctx, b.c, path, n)
}

func (r recipeClient) Made(name string) bool { return r.c.core.protection.made(name) }

func (r recipeClient) Remove(ctx context.Context, full string, session int64) *recipeapi.PendingDelete {
	return r.c.core.remove(ctx, full, anyVersion, session)
}

func (r recipeClient) Release(ctx context.Context, full string, session int64, with recipeapi.Release) *recipeapi.PendingDelete {
	return r.c.core.release(ctx, full, session, with)
}

func (r recipeClient) MaxRequest() int { return r.c.core.cfg.maxData }

func (r recipeClient) Request(op any) (zkconn.MultiOp, error) {
	o, _ := op.(Op)
	return o.multi, checkOps(r.c, []Op{o})
}

func (r recipeClient) RefusedOp(op, path string, err error) any {
	return Op{client: r.c, name: op, path: path, err: err}
}

func (r recipeClient) Data(full string, data []byte) ([]byte, error) {
	if !r.c.core.cfg.compressAll {
		return data, nil
	}
	return r.c.core.cfg.compression.Decompress(r.c.unfix(full), data)
}

func (r recipeClient) OnSession(ctx context.Context, session int64) context.Context {
	return onSession(ctx, session)
}

func (r recipeClient) OnLoss(node string, fn func(recipeapi.Loss)) func() {
	return r.c.core.losses.add(r.c.core.conn.Load(), node, fn)
}

func (r recipeClient) SessionEnd(ctx context.Context, session int64) zkconn.SessionEnd {
	conn := r.c.core.conn.Load()
	if conn == nil {
		return zkconn.SessionMayLive
	}
	return conn.SessionEnd(ctx, session, r.c.core.isClosing())
}

func (r recipeClient) Held() []string { return r.c.core.losses.held() }

func (r recipeClient) Log(fn func()) { r.c.core.report(fn) }

func (r recipeClient) Unhandled(what string, err error) {
	r.c.core.unhandled.Notify(fmt.Errorf("%s: %w", what, err))
}

func (r recipeClient) Callback(fn func()) bool { return r.c.core.users.Start(fn) }

func (r recipeClient) Telemetry() *telemetry.Telemetry { return r.c.core.telemetry }

func (r recipeClient) Go(fn func(ctx context.Context)) bool {
	return r.c.core.pending.Start(func() { fn(r.c.core.life) })
}
