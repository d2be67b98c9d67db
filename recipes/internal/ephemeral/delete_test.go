package ephemeral_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/tools/curatortest"
)

// watched returns a node that is held and watched.
func watched(t *testing.T, client *framework.Client, shared bool) (*ephemeral.Node, *holder) {
	t.Helper()
	node, err := ephemeral.Own(ephemeral.Config{
		Client: zkclient.Of(client), ErrorPolicy: client.ErrorPolicy(),
		WatchAfter: time.Millisecond, NameShared: shared,
	}, create(t, client), false)
	if err != nil {
		t.Fatal(err)
	}
	h := &holder{}
	if err := node.Hold(h); err != nil {
		t.Fatal(err)
	}
	node.Watch(nil, ephemeral.Content{})
	time.Sleep(time.Second)
	synctest.Wait()
	return node, h
}

// A recipe's transaction that deletes the node is no loss, and nothing is sent afterwards.
func TestDeleteBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		node, h := watched(t, client, true)
		remove := func() {
			if err := client.Delete().ForPath(t.Context(), node.Path()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		node.DeleteBy(func() bool { remove(); return true })
		node.Delete(t.Context(), ephemeral.Release{})
		deletion := node.Deletion()
		<-deletion.Done
		if deletion.Outcome != zkclient.RemovalConfirmed || len(h.lost) > 0 {
			t.Errorf("outcome %v, losses %v", deletion.Outcome, h.lost)
		}
		if n := len(zkclient.Of(client).Held()); n != 0 {
			t.Errorf("%d hooks are left", n)
		}

		// A transaction that was refused changes nothing.
		node, h = watched(t, client, true)
		node.DeleteBy(func() bool { return false })
		if node.Deletion() != nil || len(h.lost) > 0 {
			t.Errorf("deletion %v, losses %v", node.Deletion(), h.lost)
		}

		// Another client's delete is a loss, when it is known that it was that.
		node.DeleteBy(func() bool {
			remove()
			if len(h.lost) > 0 {
				t.Errorf("losses %v before the end of the transaction", h.lost)
			}
			return false
		})
		if len(h.lost) != 1 || h.lost[0] != zkclient.LossDeleted {
			t.Errorf("losses %v", h.lost)
		}
		node.Delete(t.Context(), ephemeral.Release{})
		<-node.Deletion().Done
	})
}

// When the session is over a node of the same name may be another session's, and is left alone.
func TestSharedNameIsLeftAlone(t *testing.T) {
	for _, shared := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			server := curatortest.Start(t, curatortest.Virtual())
			client, other := server.Client(t), server.Client(t)
			node, _ := watched(t, client, shared)
			server.ExpireSession(client.SessionID())
			synctest.Wait()
			if _, err := other.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), node.Path()); err != nil {
				t.Fatal(err)
			}
			node.Delete(t.Context(), ephemeral.Release{})
			<-node.Deletion().Done
			if exists, err := other.CheckExists().ForPath(t.Context(), node.Path()); exists != shared || err != nil {
				t.Errorf("shared name %v: the node of the other session exists: %v, %v", shared, exists, err)
			}
			if outcome := node.Deletion().Outcome; shared && outcome != zkclient.RemovalMissing {
				t.Errorf("outcome %v", outcome)
			}
		})
	}
}
