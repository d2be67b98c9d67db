package queue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/queue"
)

// Bad arguments of constructors are refused, with the name of the argument.
func TestArguments(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t)
		text := codec.String()
		for _, c := range []struct {
			name   string
			client *framework.Client
			path   string
			codec  codec.Codec[string]
			opt    queue.Option
			want   error
			says   string
		}{
			{"no client", nil, "/q", text, nil, framework.ErrNotStarted, ""},
			{"path", client, "q", text, nil, framework.ErrInvalidPath, "q"},
			{"root", client, "/", text, nil, framework.ErrInvalidPath, "own"},
			{"no codec", client, "/q", nil, nil, framework.ErrInvalidOption, "codec"},
			{"no lock path", client, "/q", text, queue.WithLockPath(""), framework.ErrInvalidOption, "WithLockPath"},
			{"lock path", client, "/q", text, queue.WithLockPath("locks"), framework.ErrInvalidPath, "WithLockPath"},
			{"lock path at the root", client, "/q", text, queue.WithLockPath("/"), framework.ErrInvalidPath, "WithLockPath"},
			{"lock path on the queue", client, "/q", text, queue.WithLockPath("/q"), framework.ErrInvalidOption, "WithLockPath"},
			{"bound", client, "/q", text, queue.WithMaxItems(0), framework.ErrInvalidOption, "WithMaxItems"},
			{"concurrency", client, "/q", text, queue.WithConcurrency(-1), framework.ErrInvalidOption, "WithConcurrency"},
			{"name", client, "/q", text, queue.WithName("a\nb"), framework.ErrInvalidOption, "WithName"},
			{"long name", client, "/q", text, queue.WithName(strings.Repeat("n", 129)), framework.ErrInvalidOption, "WithName"},
			{"nil option", client, "/q", text, nil, framework.ErrInvalidOption, "option"},
		} {
			opts := []queue.Option{c.opt}
			if c.opt == nil && c.name != "nil option" {
				opts = nil
			}
			for kind, err := range map[string]error{
				"queue":    second(queue.NewDistributedQueue(c.client, c.path, c.codec, opts...)),
				"id":       second(queue.NewDistributedIDQueue(c.client, c.path, c.codec, opts...)),
				"priority": second(queue.NewDistributedPriorityQueue(c.client, c.path, c.codec, opts...)),
				"delay":    second(queue.NewDistributedDelayQueue(c.client, c.path, c.codec, opts...)),
			} {
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s, %s: %v", c.name, kind, err)
				}
			}
		}
		suite.Got(queue.NewSimpleDistributedQueue(nil, "/q")).Fails(t, framework.ErrNotStarted)
		suite.Got(queue.NewSimpleDistributedQueue(client, "/")).Fails(t, framework.ErrInvalidPath)
	})
}

func second[T any](_ T, err error) error { return err }

// Nil and zero values, nil contexts and nil functions are refused.
func TestZeroValues(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		ctx, none := t.Context(), context.Context(nil)
		do := func(context.Context, message) error { return nil }
		for _, q := range []*queue.DistributedQueue[string]{nil, {}} {
			suite.WantErr(t, q.Put(ctx, "x"), framework.ErrNotStarted)
			suite.WantErr(t, q.Consume(ctx, do), framework.ErrNotStarted)
		}
		for _, q := range []*queue.DistributedIDQueue[string]{nil, {}} {
			suite.WantErr(t, q.Put(ctx, "id", "x"), framework.ErrNotStarted)
			suite.WantErr(t, q.Consume(ctx, do), framework.ErrNotStarted)
			suite.Got(q.Remove(ctx, "id")).Fails(t, framework.ErrNotStarted)
		}
		for _, q := range []*queue.DistributedPriorityQueue[string]{nil, {}} {
			suite.WantErr(t, q.Put(ctx, 1, "x"), framework.ErrNotStarted)
			suite.WantErr(t, q.Consume(ctx, do), framework.ErrNotStarted)
		}
		for _, q := range []*queue.DistributedDelayQueue[string]{nil, {}} {
			suite.WantErr(t, q.Put(ctx, time.Now(), "x"), framework.ErrNotStarted)
			suite.WantErr(t, q.Consume(ctx, do), framework.ErrNotStarted)
		}
		for _, q := range []*queue.SimpleDistributedQueue{nil, {}} {
			suite.WantErr(t, q.Offer(ctx, nil), framework.ErrNotStarted)
			suite.Got(q.Take(ctx)).Fails(t, framework.ErrNotStarted)
		}
		q := f.queue(f.observer)
		suite.WantErr(t, q.Put(none, "x"), framework.ErrInvalidOption)
		suite.WantErr(t, q.Consume(none, do), framework.ErrInvalidOption)
		suite.WantErr(t, q.Consume(ctx, nil), framework.ErrInvalidOption)
		suite.WantErr(t, f.simple(f.observer).Offer(none, nil), framework.ErrInvalidOption)
		if err := q.Put(ctx); err != nil || len(f.items()) > 0 {
			t.Errorf("a put of nothing: %v", err)
		}
	})
}

// What Put refuses is not stored, and an error of the codec is the caller's.
func TestPutRefused(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		q := suite.Got(queue.NewDistributedQueue(f.observer, f.path, codec.JSON[any]())).OK(t)
		if err := q.Put(t.Context(), 1, func() {}); err == nil || !strings.Contains(err.Error(), "item 2 of 2") {
			t.Errorf("a function was encoded: %v", err)
		}
		suite.WantErr(t, q.Put(t.Context(), strings.Repeat("x", 2<<20)), framework.ErrTooLarge)
		ids := suite.Got(queue.NewDistributedIDQueue(f.observer, f.path, codec.String())).OK(t)
		suite.WantErr(t, ids.Put(t.Context(), "\x00", "x"), framework.ErrInvalidPath)
		if left := f.items(); len(left) > 0 {
			t.Errorf("stored: %q", left)
		}
	})
}
