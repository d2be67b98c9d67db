package ephemeral_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// interposed is a client in which something happens when Hold is about to look at the clock: the
// last moment in which a grant can be refused.
type interposed struct {
	ephemeral.Client
	meanwhile func()
	deaf      bool // the hook on the session is not called
}

func (i interposed) OnLoss(node string, fn func(zkclient.Loss)) (remove func()) {
	if i.deaf {
		fn = func(zkclient.Loss) {}
	}
	return i.Client.OnLoss(node, fn)
}

func (i interposed) Conn() (*zkconn.Conn, error) {
	i.meanwhile()
	return i.Client.Conn()
}

// holder keeps what it is told.
type holder struct {
	lost []zkclient.LossKind
	read []string
}

func (h *holder) Lost(l zkclient.Loss) { h.lost = append(h.lost, l.Kind) }
func (h *holder) Read(data []byte)     { h.read = append(h.read, string(data)) }

const sessionTimeout = 4 * time.Second

// holdCase is what happens in that moment, and whether the node is held all the same.
type holdCase struct {
	opts      []framework.Option
	other     bool // the node is another session's
	meanwhile func(s *curatortest.Server, c *framework.Client)
	hook      bool // the hook on the session is called; without it the clock and the state must do
	want      error
}

// Rule 11 of the lock model: Hold looks at the clock and at the session after it has set the holder.
// Each condition of a grant fails alone, between the look at the queue and the grant. The holder is
// told of a loss before Lose returns: see TestLoseReturnsWhenTheHolderKnows.
func TestRule11(t *testing.T) {
	sessionPolicy := []framework.Option{framework.WithErrorPolicy(state.SessionErrorPolicy())}
	suspendedFor := func(d time.Duration) func(s *curatortest.Server, c *framework.Client) {
		return func(s *curatortest.Server, _ *framework.Client) {
			s.Refuse()
			s.Disconnect()
			synctest.Wait()
			time.Sleep(d)
		}
	}
	reconnect := func(s *curatortest.Server, _ *framework.Client) {
		s.Disconnect()
		synctest.Wait()
		time.Sleep(time.Second)
	}
	for name, c := range map[string]holdCase{
		"nothing happens": {hook: true},
		"another owner":   {other: true, hook: true, want: ephemeral.ErrGone},
		"session over": {want: ephemeral.ErrGone, meanwhile: func(s *curatortest.Server, c *framework.Client) {
			s.ExpireSession(c.SessionID())
			synctest.Wait()
			time.Sleep(time.Second)
		}},
		"deadline not passed":              {opts: sessionPolicy, meanwhile: suspendedFor(sessionTimeout*7/8 - 1)},
		"deadline passed":                  {opts: sessionPolicy, meanwhile: suspendedFor(sessionTimeout * 7 / 8), want: ephemeral.ErrInDoubt},
		"an error state":                   {meanwhile: suspendedFor(0), want: ephemeral.ErrInDoubt},
		"an error state that has passed":   {hook: true, want: ephemeral.ErrInDoubt, meanwhile: reconnect},
		"a disconnect that nobody told of": {meanwhile: reconnect},
		"closed": {want: framework.ErrClosed, meanwhile: func(_ *curatortest.Server, c *framework.Client) {
			_ = c.Close(context.Background()) // the node goes with the session
		}},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, c.try) })
	}
}

func (c holdCase) try(t *testing.T) {
	server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(200*time.Millisecond))
	client := server.Client(t, append(c.opts, framework.WithSessionTimeout(sessionTimeout))...)
	api := zkclient.Of(client)
	created := create(t, client)
	if c.other {
		created.Owner++
	}
	h := &holder{}
	node, err := ephemeral.Own(ephemeral.Config{
		ErrorPolicy: client.ErrorPolicy(),
		Client: interposed{Client: api, deaf: !c.hook, meanwhile: func() {
			if c.meanwhile != nil {
				c.meanwhile(server, client)
			}
		}},
	}, created, false)
	if err == nil {
		err = node.Hold(h)
	}
	if !errors.Is(err, c.want) {
		t.Errorf("error %v, want %v", err, c.want)
	}
	if node != nil {
		node.Delete(t.Context(), ephemeral.Release{})
	}
	if n := len(api.Held()); n != 0 {
		t.Errorf("%d hooks are left", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_ = client.Close(ctx) // what has become of its session, and of the delete, is not the point
}

func create(t *testing.T, client *framework.Client) zkclient.Created {
	t.Helper()
	created, _, err := zkclient.Of(client).Create(t.Context(), zkclient.NodeSpec{
		Path: "/queue/member-", Mode: zkclient.EphemeralSequential, Protection: true, Parents: zkclient.ContainerParents, DefaultData: true,
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// Data that came while nobody holds the node is told to each holder that follows, once.
func TestReadIsToldToEachHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := curatortest.Start(t, curatortest.Virtual()).Client(t)
		created := create(t, client)
		node, err := ephemeral.Own(ephemeral.Config{
			Client: zkclient.Of(client), ErrorPolicy: client.ErrorPolicy(), WatchAfter: time.Millisecond,
		}, created, false)
		if err != nil {
			t.Fatal(err)
		}
		node.Watch(nil, ephemeral.Content{})
		first, second, third := &holder{}, &holder{}, &holder{}
		if err := node.Hold(first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		node.Unhold(first)
		if _, err := client.SetData().Uncompressed().ForPath(t.Context(), created.Path, []byte("request")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for _, h := range []*holder{second, third} {
			if err := node.Hold(h); err != nil {
				t.Fatal(err)
			}
			node.Unhold(h)
		}
		for _, h := range []*holder{second, third} {
			if len(h.read) != 1 || h.read[0] != "request" {
				t.Errorf("a later holder was told %q", h.read)
			}
		}
		node.Delete(t.Context(), ephemeral.Release{})
		<-node.Deletion().Done
	})
}

// A holder is told of the first loss only. After a loss that is not final the node can be held
// again, with the same token.
func TestLossIsToldOnce(t *testing.T) {
	for kind, again := range map[zkclient.LossKind]error{
		zkclient.LossSuspended: nil,
		zkclient.LossDeadline:  nil,
		zkclient.LossDeleted:   ephemeral.ErrGone,
		zkclient.LossSession:   ephemeral.ErrGone,
		zkclient.LossClosed:    ephemeral.ErrGone,
	} {
		synctest.Test(t, func(t *testing.T) {
			client := curatortest.Start(t, curatortest.Virtual()).Client(t)
			created := create(t, client)
			node, err := ephemeral.Own(ephemeral.Config{Client: zkclient.Of(client), ErrorPolicy: client.ErrorPolicy()}, created, false)
			if err != nil {
				t.Fatal(err)
			}
			h := &holder{}
			if err := node.Hold(h); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				node.Lose(zkclient.Loss{Kind: kind, Session: node.Session()})
			}
			if len(h.lost) != 1 || h.lost[0] != kind {
				t.Errorf("told %v, want %v once", h.lost, kind)
			}
			if err := node.Hold(&holder{}); !errors.Is(err, again) {
				t.Errorf("held again after %v: %v, want %v", kind, err, again)
			}
			if node.Czxid() != created.Czxid {
				t.Errorf("token %d, want %d", node.Czxid(), created.Czxid)
			}
			node.Delete(t.Context(), ephemeral.Release{})
			<-node.Deletion().Done
		})
	}
}
