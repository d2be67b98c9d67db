package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// groupJoin lets n members, which share the sessions, join a group at the same time. An operation is a
// member, and its latency the time until it knows all members.
func (l *local) groupJoin(ctx context.Context, sessions, n int, path string) (_ measure.Run, err error) {
	members, err := l.members(ctx, sessions, n, path)
	if err != nil {
		return measure.Run{}, err
	}
	defer func() {
		for _, m := range members {
			err = errors.Join(err, m.Close(ctx))
		}
	}()
	return l.measured(func() (int, []time.Duration, error) {
		took := make([]time.Duration, len(members))
		begin := time.Now()
		joining, ctx := errgroup.WithContext(ctx)
		for i, m := range members {
			joining.Go(func() error {
				if err := m.Start(ctx); err != nil {
					return err
				}
				for all := range m.Updates(ctx) {
					if len(all) == len(members) {
						took[i] = time.Since(begin)
						return nil
					}
				}
				return ctx.Err()
			})
		}
		err := joining.Wait()
		return len(members), took, err
	})
}

// members returns n members of a group, which share the sessions. It is for our own peers only.
func (l *local) members(ctx context.Context, clients, n int, path string) ([]*nodes.GroupMember, error) {
	sessions, err := l.connect(ctx, clients)
	if err != nil {
		return nil, err
	}
	members := make([]*nodes.GroupMember, n)
	for i := range members {
		s, ok := sessions[i%len(sessions)].(*curatorSession)
		if !ok || s.v2 {
			return nil, errUnsupported
		}
		if members[i], err = nodes.NewGroupMember(s.client, path, fmt.Sprintf("member-%d", i), []byte("payload")); err != nil {
			return nil, err
		}
	}
	return members, nil
}
