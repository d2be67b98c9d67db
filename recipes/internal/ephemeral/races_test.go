package ephemeral_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/recipes/internal/ephemeral"
	"github.com/go-curator/curator/tools/curatortest"
)

// slowHolder takes its time when it is told.
type slowHolder struct{ begun, goOn chan struct{} }

func (h *slowHolder) Lost(zkclient.Loss) { close(h.begun); <-h.goOn }
func (h *slowHolder) Read([]byte)        {}

// Two calls of Lose at once: each returns when the holder knows, not only the one that tells it.
func TestLoseReturnsWhenTheHolderKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := curatortest.Start(t, curatortest.Virtual()).Client(t)
		node, err := ephemeral.Own(ephemeral.Config{Client: zkclient.Of(client), ErrorPolicy: client.ErrorPolicy()}, create(t, client), false)
		if err != nil {
			t.Fatal(err)
		}
		h := &slowHolder{make(chan struct{}), make(chan struct{})}
		if err := node.Hold(h); err != nil {
			t.Fatal(err)
		}
		go node.Lose(zkclient.Loss{Kind: zkclient.LossDeadline, Session: node.Session()}) // the keeper
		<-h.begun                                                                         // it has taken the holder, and has not told it yet
		second := make(chan struct{})
		go func() {
			node.Lose(zkclient.Loss{Kind: zkclient.LossDeadline, Session: node.Session()}) // Check, of Lease.Err
			close(second)
		}()
		for range 1000 { // a goroutine that waits for a mutex keeps virtual time from going on
			runtime.Gosched()
		}
		select {
		case <-second:
			t.Error("Lose has returned, and the holder does not know")
		default:
		}
		close(h.goOn)
		<-second
		node.Delete(t.Context(), ephemeral.Release{})
		<-node.Deletion().Done
	})
}

// lateGo is a client that starts goroutines when it is told to.
type lateGo struct {
	ephemeral.Client
	late *[]func()
}

func (l lateGo) Go(fn func(context.Context)) bool {
	*l.late = append(*l.late, func() { l.Client.Go(fn) })
	return true
}

// The event of the node's deletion has arrived, and the holder has not been told yet: the next
// goroutine does not get the node.
func TestNotHeldAfterItsDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client, operator := server.Client(t), server.Client(t)
		var late []func()
		node, err := ephemeral.Own(ephemeral.Config{Client: lateGo{zkclient.Of(client), &late}, ErrorPolicy: client.ErrorPolicy(), WatchAfter: time.Millisecond}, create(t, client), false)
		if err != nil {
			t.Fatal(err)
		}
		a, b := &holder{}, &holder{}
		if err := node.Hold(a); err != nil {
			t.Fatal(err)
		}
		node.Watch(nil, ephemeral.Content{})
		time.Sleep(time.Second)
		synctest.Wait()
		for _, fn := range late { // the read that sets the watch
			fn()
		}
		late = nil
		synctest.Wait()
		if err := operator.Delete().ForPath(t.Context(), node.Path()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(late) != 1 {
			t.Fatalf("%d events", len(late))
		}
		node.Unhold(a) // a releases, and hands over
		if err := node.Hold(b); err == nil {
			t.Error("held, although NodeDeleted of the node was delivered before")
		}
		late[0]()
		synctest.Wait()
		node.Delete(t.Context(), ephemeral.Release{})
		<-node.Deletion().Done
	})
}

// heldUp is a context that holds conn.Do up, once, after the answer is there.
type heldUp struct {
	context.Context
	until chan struct{}
}

func (h heldUp) Value(key any) any {
	if fmt.Sprintf("%T", key) == "zkconn.answersKey" {
		<-h.until
	}
	return h.Context.Value(key)
}

// slowFirst is a client whose first goroutine is held up.
type slowFirst struct {
	ephemeral.Client
	n     *int
	until chan struct{}
}

func (s slowFirst) Go(fn func(context.Context)) bool {
	*s.n++
	first := *s.n == 1
	return s.Client.Go(func(ctx context.Context) {
		if first {
			ctx = heldUp{ctx, s.until}
		}
		fn(ctx)
	})
}

// Two reads of the node overlap: the older answer does not replace the newer one, a request to
// revoke.
func TestOlderReadDoesNotReplaceNewer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := curatortest.Start(t, curatortest.Virtual()).Client(t)
		n, until := 0, make(chan struct{})
		node, err := ephemeral.Own(ephemeral.Config{Client: slowFirst{zkclient.Of(client), &n, until}, ErrorPolicy: client.ErrorPolicy(), WatchAfter: time.Millisecond}, create(t, client), false)
		if err != nil {
			t.Fatal(err)
		}
		node.Watch(nil, ephemeral.Content{})
		time.Sleep(time.Second) // the first read has its answer, and has set the watch
		if _, err := client.SetData().Uncompressed().ForPath(t.Context(), node.Path(), []byte("request")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the second read, for the event, is over
		synctest.Wait()
		close(until)
		time.Sleep(time.Second)
		h := &holder{}
		if err := node.Hold(h); err != nil {
			t.Fatal(err)
		}
		if n != 2 || len(h.read) != 1 || h.read[0] != "request" {
			t.Errorf("%d reads; the holder was told %q, want the request", n, h.read)
		}
		node.Delete(t.Context(), ephemeral.Release{})
		<-node.Deletion().Done
	})
}
