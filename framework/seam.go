package framework

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/internal/seam"
	"github.com/go-curator/curator/internal/telemetry"
	"github.com/go-curator/curator/internal/zkconn"
)

func init() {
	seam.Of = func(client any) seam.Client {
		c, _ := client.(*Client)
		return inside{c}
	}
}

// inside is a client as the recipes see it.
type inside struct{ c *Client }

var _ seam.Client = inside{}

func (i inside) Identity() any {
	if i.c == nil {
		return nil
	}
	return i.c.core
}

func (i inside) Path(path string) (string, error) {
	if i.c == nil || i.c.core == nil {
		return "", ErrNotStarted
	}
	return i.c.fix(path, false)
}

func (i inside) Unfix(full string) string { return i.c.unfix(full) }

func (i inside) Conn() (*zkconn.Conn, error) {
	if i.c == nil || i.c.core == nil {
		return nil, ErrNotStarted
	}
	return i.c.core.connection(false)
}

func (i inside) Run(ctx context.Context, op, path string, fn func(ctx context.Context, conn *zkconn.Conn) error) error {
	return i.c.run(ctx, operation{name: op, path: path, repeat: true, missing: true}, fn)
}

func (i inside) CreateAndList(ctx context.Context, builder any, path string, sequential bool) (seam.Created, *seam.Removal, error) {
	b, err := i.contender(builder)
	if err != nil {
		return seam.Created{}, nil, err
	}
	if !sequential {
		b.p.mode = Ephemeral
	}
	return b.p.create(ctx, b.c, path, true)
}

func (i inside) Create(ctx context.Context, builder any, path string) (seam.Created, *seam.Removal, error) {
	b, err := i.contender(builder)
	if err != nil {
		return seam.Created{}, nil, err
	}
	return b.p.create(ctx, b.c, path, false)
}

// contender returns a builder of contenders' nodes.
func (i inside) contender(builder any) (CreateBuilder, error) {
	switch b, _ := builder.(CreateBuilder); {
	case b.c != i.c:
		return b, fmt.Errorf("%w: the builder of a contender's node is another client's", ErrInvalidBuilder)
	case !b.p.protection || b.p.mode != EphemeralSequential:
		return b, fmt.Errorf("%w: a contender's node needs protection, and is ephemeral and sequential", ErrInvalidBuilder)
	default:
		return b, nil
	}
}

func (i inside) CreateGroup(ctx context.Context, builder any, path string, n int) ([]seam.Created, []*seam.Removal, error) {
	b, err := i.contender(builder)
	if err != nil {
		return nil, nil, err
	}
	return b.p.createGroup(ctx, b.c, path, n)
}

func (i inside) Remove(ctx context.Context, full string, session int64) *seam.Removal {
	return i.c.core.remove(ctx, full, anyVersion, session)
}

func (i inside) Release(ctx context.Context, full string, session int64, with seam.Release) *seam.Removal {
	return i.c.core.release(ctx, full, session, with)
}

func (i inside) OnLoss(fn func(seam.Loss)) func() { return i.c.core.addHook(fn) }

func (i inside) Holds() int {
	i.c.core.mu.Lock()
	defer i.c.core.mu.Unlock()
	return len(i.c.core.hooks)
}

func (i inside) Report(fn func()) { i.c.core.report(fn) }

func (i inside) Call(fn func()) bool { return i.c.core.users.start(fn) }

func (i inside) Telemetry() *telemetry.Telemetry { return i.c.core.telemetry }

func (i inside) Go(fn func(ctx context.Context)) bool {
	return i.c.core.pending.start(func() { fn(i.c.core.life) })
}
