package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/state"
)

const (
	// connectTimeout bounds the wait for the first connection.
	connectTimeout = 15 * time.Second
	// retryDelay is the pause between attempts of a request while there is no connection.
	retryDelay = 200 * time.Millisecond
	// closeTimeout bounds the wait for the confirmation of a session's end.
	closeTimeout = 2 * time.Second
)

// session is a client of the ensemble of the settings.
type session struct {
	*program
	ensemble ensemble
	client   *framework.Client
	dialer   *dialer
	signals  *signals
}

// newSession returns a session that is not started, after it has checked all that can be checked
// without a server.
func (p *program) newSession(local *embedded, opts ...framework.Option) (*session, error) {
	s := &session{program: p, ensemble: parseEnsemble(p.settings.Connect)}
	s.ensemble.namespace = p.settings.Namespace
	s.dialer = &dialer{servers: s.ensemble.servers, embedded: local, opaque: p.settings.TLS}
	options, err := p.settings.Options()
	if err != nil {
		return nil, usage("%v", err)
	}
	options = append(options,
		framework.WithConnectionTimeout(connectTimeout),
		framework.WithErrorPolicy(state.SessionErrorPolicy()),
		framework.WithDialer(s.dialer.dial),
		framework.WithLogger(slog.New(slog.DiscardHandler))) // commands report what the user must know
	s.client, err = framework.NewClient(p.settings.Connect, retry.Forever(retryDelay), append(options, opts...)...)
	if err != nil {
		return nil, usage("%v", err)
	}
	return s, nil
}

// connect starts the client and waits for the first connection.
func (s *session) connect(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, connected := s.dialer.whileConnecting(ctx)
	defer connected()
	err := s.client.Start(ctx)
	if err == nil {
		err = s.client.BlockUntilConnected(ctx)
	}
	var cause *hopeless
	switch {
	case err == nil:
		return nil
	case errors.As(context.Cause(ctx), &cause):
		return exitWith(exitUnavailable, "%v", cause)
	case errors.Is(err, context.DeadlineExceeded):
		return exitWith(exitUnavailable, "no ZooKeeper server answered at %s within %v: %v", s.ensemble, timeout, err)
	}
	return s.explain(err)
}

// close ends the session.
func (s *session) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return s.client.Close(ctx)
}

// explain returns an exit with the code for err.
func (s *session) explain(err error) error {
	is := func(targets ...error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
	var known *exit
	switch {
	case errors.As(err, &known):
		return err
	case is(framework.ErrNoAuth, framework.ErrAuthFailed):
		return exitWith(exitForbidden, "%v", err)
	case is(framework.ErrNoNode) && s.ensemble.chroot != "":
		return usage("the chroot %s of %s does not exist", s.ensemble.chroot, s.ensemble)
	case is(locks.ErrKindMismatch, framework.ErrInvalidPath, framework.ErrInvalidACL, framework.ErrInvalidOption,
		framework.ErrNoChildrenForEphemerals):
		return usage("%v", err)
	case is(framework.ErrNotReadOnly):
		return exitWith(exitUnavailable, "%v: the server has no quorum, and serves reads only", err)
	case is(framework.ErrConnectionLoss, framework.ErrSessionExpired, context.DeadlineExceeded, context.Canceled):
		return exitWith(exitUnavailable, "%v", err)
	}
	return exitWith(exitInternal, "%v", err)
}
