package locks

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// A lease does not rely on being told that it is over: whoever asks it, or binds a context to
// it, looks at the clock and the session.
func TestUnheardLosses(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(s *curatortest.Server, client *framework.Client)
		want LossReason
	}{
		"deadline": {func(s *curatortest.Server, _ *framework.Client) {
			s.Refuse()
			s.Disconnect()
			synctest.Wait()
			time.Sleep(grantTimeout / 2)
		}, LossDeadline},
		"session": {func(s *curatortest.Server, client *framework.Client) {
			s.ExpireSession(client.SessionID())
			synctest.Wait()
			time.Sleep(time.Second)
		}, LossSessionExpired},
	} {
		for _, asks := range []string{"Err", "Bind", "Acquire"} {
			t.Run(name+" "+asks, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))
					client := server.Client(t, framework.WithSessionTimeout(grantTimeout), framework.WithErrorPolicy(state.SessionErrorPolicy()))
					in, err := newInternals(client, "/lock", config{releaseTimeout: time.Second}, mutexRules(StandardLockInternalsDriver{}))
					if err != nil {
						t.Fatal(err)
					}
					in.inside = interposed{Client: in.inside, deaf: true, meanwhile: func() {}}
					lease, err := in.acquire(t.Context(), true)
					if err != nil {
						t.Fatal(err)
					}
					c.lose(server, client)
					if lease.ctx.Err() != nil {
						t.Fatal("it was told")
					}
					switch asks {
					case "Bind":
						err = context.Cause(lease.Bind(t.Context()))
					case "Acquire":
						_, err = in.acquire(lease.Context(), false)
					default:
						err = lease.Err()
					}
					var loss *LossError
					if !errors.As(err, &loss) || loss.Reason != c.want {
						t.Errorf("%v, want %v", err, c.want)
					}
					if err := lease.Release(endedContext(t)); err == nil {
						t.Error("released as if nothing had happened")
					}
					_ = client.Close(endedContext(t)) // what has become of its session is not the point
				})
			})
		}
	}
}

// endedContext returns a context that has ended.
func endedContext(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// groupOf returns the internals of a semaphore with two leases, and a contender for both.
func groupOf(t *testing.T, client *framework.Client) *contender {
	t.Helper()
	in, err := newInternals(client, "/lock", config{releaseTimeout: time.Second}, rules{
		kind: semaphoreKind, lockName: lockName, driver: StandardLockInternalsDriver{}, maxLeases: 2, children: mutexKind, flat: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &contender{acquisition: acquisition{in: in}, wait: true, mates: &mates{n: 1}}
}

// The connection breaks between the grants of two leases that are wanted together: neither is
// granted before it is there again.
func TestGroupIsGrantedAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		c := groupOf(t, server.Client(t))
		inside, grants := c.in.inside, 0
		c.in.inside = interposed{Client: inside, meanwhile: func() {
			if grants++; grants == 2 {
				if n := inside.LossHooks(); n != 2 {
					t.Errorf("%d hooks, want those of both", n)
				}
				server.Disconnect()
				synctest.Wait()
			}
		}}
		last, err := c.contend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		parts := leasesOf(t.Context(), nil, append(c.mates.holds, last))
		if grants < 4 || len(parts) != 2 || inside.LossHooks() != 2 {
			t.Errorf("%d grants, %d leases, %d hooks", grants, len(parts), inside.LossHooks())
		}
		whole := composed(t.Context(), parts)
		if err := errors.Join(whole.Err(), whole.Verify(t.Context()), whole.Release(t.Context())); err != nil {
			t.Error(err)
		}
	})
}

// One of two that were granted is lost before there are leases: there is none of the other.
func TestGroupIsLostAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		c := groupOf(t, server.Client(t))
		last, err := c.contend(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		holds := append(c.mates.holds, last)
		last.lose(LossNodeDeleted, nil)
		if parts := leasesOf(t.Context(), nil, holds); parts != nil {
			t.Fatalf("%d leases", len(parts))
		}
		c.settle(t.Context(), withdrawAll(t.Context(), holds)...)
		if names := server.Children("/lock"); len(names) != 0 || c.in.inside.LossHooks() != 0 {
			t.Errorf("nodes %q and %d hooks are left", names, c.in.inside.LossHooks())
		}
	})
}
