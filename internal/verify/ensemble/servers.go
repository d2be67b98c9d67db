package ensemble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

// servers is an ensemble of three servers. Many rounds use it, one after the other.
type servers struct {
	*curatortest.Ensemble
	tick time.Duration
}

// longest is the longest session timeout that servers grant, in ticks.
const longest = 20

func startServers(tick time.Duration) (*servers, error) {
	ensemble, err := curatortest.NewReal(3, curatortest.WithTickTime(tick), curatortest.WithSessionTimeouts(2*tick, longest*tick),
		curatortest.WithSyncLimit(syncLimit), curatortest.WithInitLimit(2*syncLimit))
	if err != nil {
		return nil, fmt.Errorf("start an ensemble: %w", err)
	}
	return &servers{ensemble, tick}, nil
}

// settleTimeout bounds the time until an ensemble works again after a round.
const settleTimeout = 2 * time.Minute

// settle waits until there is one leader, the others follow it, and a write through each server
// succeeds.
func (s *servers) settle(ctx context.Context, r rule) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	for {
		if realservers.Whole(s.Members()) && s.writable(ctx, r) && realservers.Whole(s.Members()) {
			return nil
		}
		err := wait.For(ctx, 50*time.Millisecond)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("the ensemble does not work again after %v:%s", settleTimeout, s.describe())
		case err != nil:
			return context.Cause(ctx)
		}
	}
}

// describe returns the mode and the last lines of the log of each server.
func (s *servers) describe() string {
	var b strings.Builder
	for i, m := range s.Members() {
		fmt.Fprintf(&b, "\nserver %d, mode %q:\n%s", i, m.Mode(), m.Log())
	}
	return b.String()
}

// writable reports whether a write through each server succeeds within a short time.
func (s *servers) writable(ctx context.Context, r rule) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, m := range s.Members() {
		client, err := newClient(ctx, r, []*curatortest.Member{m}, longest*s.tick)
		if err != nil {
			return false
		}
		_, err = client.Create().WithMode(framework.EphemeralSequential).ForPath(ctx, "/settled-")
		realservers.Close(ctx, client)
		if err != nil {
			return false
		}
	}
	return true
}

// rule is how a client proves that its session still exists.
type rule string

const (
	beatRule    rule = "beat"    // by two requests, one after the other, that the leader has answered
	answersRule rule = "answers" // by any answer, also of a server that has lost its leader; this is wrong
)

func parseRule(name string) (rule, error) {
	switch r := rule(name); r {
	case beatRule, answersRule:
		return r, nil
	default:
		return "", fmt.Errorf("-rule must be %[2]s or %[3]s, not %[1]q", name, beatRule, answersRule)
	}
}

// startContext returns the context for the Start of a client that uses a rule.
func startContext(ctx context.Context, r rule) context.Context {
	if r == answersRule {
		return zkconn.TrustAnswers(ctx)
	}
	return ctx
}
