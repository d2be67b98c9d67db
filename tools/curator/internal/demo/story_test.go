package demo

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/tools/curatortest"
)

// start starts a fleet in a bubble of virtual time.
func start(t *testing.T) *Fleet {
	t.Helper()
	server := curatortest.Start(t, curatortest.Virtual(), curatortest.WithTickTime(250*time.Millisecond))
	fleet := New(Options{Connect: server.ConnectString(), Dial: server.DialContext})
	if err := fleet.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return fleet
}

// TestStory plays the story, and checks that after each fault another worker gets the lock, that all
// tokens rise, and that the late write is refused.
func TestStory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := start(t)
		if err := fleet.Play(t.Context()); err != nil {
			t.Fatal(err)
		}
		events, _ := fleet.Events(0)
		var killed, frozen, refused, ended Event
		highest := map[string]int64{}
		heir := map[string]string{} // the next holder after the fault, by path
		for _, e := range events {
			switch e.Kind {
			case Killed:
				killed = e
			case Frozen:
				frozen = e
			case Refused:
				refused = e
			case Ended:
				ended = e
			case Took:
				if e.Path != CatalogPath && e.Token <= highest[e.Path] {
					t.Errorf("%s: the token was %d before", e, highest[e.Path])
				}
				highest[e.Path] = e.Token
				if fault := map[string]Event{SchedulerPath: killed, OrdersPath: frozen}[e.Path]; fault.Kind != 0 && heir[e.Path] == "" {
					heir[e.Path] = e.Worker
					if waited := e.At - fault.At; waited < time.Second || waited > 4*time.Second {
						t.Errorf("%s: %v after the fault", e, waited)
					}
				}
			}
		}
		if killed.Path != SchedulerPath || heir[SchedulerPath] == "" || heir[SchedulerPath] == killed.Worker {
			t.Errorf("%+v, then %q leads", killed, heir[SchedulerPath])
		}
		if frozen.Path != OrdersPath || heir[OrdersPath] == "" || heir[OrdersPath] == frozen.Worker {
			t.Errorf("%+v, then %q has the lock", frozen, heir[OrdersPath])
		}
		if refused.Worker != frozen.Worker || refused.Higher <= refused.Token {
			t.Errorf("%+v", refused)
		}
		if ended.Grants < 6 || ended.Falls != 0 {
			t.Errorf("%+v", ended)
		}
		if t.Failed() {
			for _, e := range events {
				t.Log(e.At, e)
			}
		}
	})
}
