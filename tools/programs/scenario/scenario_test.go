package scenario_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/retry"
	"github.com/go-curator/curator/tools/programs/scenario"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const soon = 10 * time.Second

// connect starts a client with a session by a link. It does not retry.
func connect(t *testing.T, link *scenario.Link, session time.Duration) *framework.Client {
	t.Helper()
	client, err := framework.NewClient(link.Address(), retry.None(), framework.WithSessionTimeout(session), framework.WithoutEnsembleTracker())
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), soon)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := client.BlockUntilConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestLinkCut(t *testing.T) {
	s := scenario.Start(t)
	link := s.Link()
	client := connect(t, link, soon)
	id := client.SessionID()
	if link.Session() != id {
		t.Errorf("the link knows session %#x, the client has %#x", link.Session(), id)
	}
	link.Cut()
	scenario.Within(t, soon, "the client is connected again", func() bool {
		_, err := client.GetChildren().ForPath(t.Context(), "/")
		return err == nil
	})
	if client.SessionID() != id {
		t.Error("the session has not survived")
	}
}

// A client that is cut off loses its session without learning of it, and connects again after the silence.
func TestLinkSilence(t *testing.T) {
	s := scenario.Start(t)
	link := s.Link()
	client := connect(t, link, 2*time.Second)
	id := client.SessionID()
	if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/here"); err != nil {
		t.Fatal(err)
	}
	heal := link.Silence()
	scenario.Within(t, soon, "the session has ended", func() bool { return len(s.Children("/")) == 1 })
	if link.Session() != id || client.State() == framework.Stopped {
		t.Errorf("during the silence: session %#x", link.Session())
	}
	heal()
	scenario.Within(t, soon, "a new session", func() bool { return link.Session() != id && client.SessionID() == link.Session() })
}

func TestLinkLoseReply(t *testing.T) {
	s := scenario.Start(t)
	link := s.Link()
	client := connect(t, link, soon)
	lost := link.LoseReply("create", "/a/")
	if _, err := client.Create().ForPath(t.Context(), "/a"); err != nil {
		t.Fatal(err) // it is not below the path
	}
	_, err := client.Create().ForPath(t.Context(), "/a/b")
	if !errors.Is(err, framework.ErrConnectionLoss) {
		t.Errorf("Create returned %v", err)
	}
	select {
	case <-lost:
	default:
		t.Error("the channel is open")
	}
	if names := s.Children("/a"); len(names) != 1 {
		t.Errorf("created: %v", names)
	}
	scenario.Within(t, soon, "the next one gets its reply", func() bool {
		_, err := client.GetChildren().ForPath(t.Context(), "/")
		return err == nil
	})
}

func TestLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l scenario.Leaders
		l.Begin()
		time.Sleep(time.Second)
		if l.Count() != 1 || l.Overlap() != 0 {
			t.Errorf("one leader: %d, %v", l.Count(), l.Overlap())
		}
		l.Begin()
		time.Sleep(time.Second)
		if l.Count() != 2 || l.Overlap() != time.Second {
			t.Errorf("two leaders: %d, %v", l.Count(), l.Overlap())
		}
		l.Begin()
		l.End()
		l.End()
		time.Sleep(time.Second)
		l.Begin()
		time.Sleep(time.Second)
		l.End()
		l.End()
		if l.Count() != 0 || l.Overlap() != 2*time.Second {
			t.Errorf("at the end: %d, %v", l.Count(), l.Overlap())
		}
	})
}

// failed is a TB that remembers that it has failed.
type failed struct {
	scenario.TB
	text string
}

func (f *failed) Fatalf(format string, _ ...any) { f.text = format }

func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, began := &failed{TB: t}, time.Now()
		scenario.Within(f, time.Second, "never", func() bool { return false })
		if took := time.Since(began); f.text == "" || took < time.Second || took > 2*time.Second {
			t.Errorf("failed with %q after %v", f.text, took)
		}
	})
}
