package framework_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
)

// notifier is a provider that says so when it has another answer.
type notifier struct {
	provider
	changed chan struct{}
}

func (n *notifier) Changed() <-chan struct{} { return n.changed }

// TestEnsembleNotifier has a provider tell of other servers with a connection and without one.
func TestEnsembleNotifier(t *testing.T) {
	onAtlas(t, "", func(a *atlas) {
		p := &notifier{provider: provider{answer: "a:1"}, changed: make(chan struct{})}
		client := a.client("", framework.WithEnsembleProvider(p))
		a.wantDials("at the start", "a:1")
		p.says("b:1")
		p.changed <- struct{}{}
		a.wantDials("the connection works")
		if n := p.says("b:1"); n != 0 {
			a.Errorf("it was asked %d times while the connection worked", n)
		}

		a.shut("a:1", "b:1")
		a.cut()
		time.Sleep(500 * time.Millisecond) // the next question is 2.5 s away
		if n := p.says("c:1"); n != 1 || client.ConnectionState().IsConnected() {
			a.Errorf("it was asked %d times when the connection was lost; the state is %v", n, client.ConnectionState())
		}
		p.changed <- struct{}{}
		time.Sleep(2 * time.Second)
		if !client.ConnectionState().IsConnected() {
			a.Errorf("2 s after it was told of another server the client is %v", client.ConnectionState())
		}
		if n := p.says("d:1"); n != 1 {
			a.Errorf("it was asked %d times for one change", n)
		}

		close(p.changed)
		time.Sleep(time.Minute)
		if n := p.says("c:1"); n != 0 {
			a.Errorf("it was asked %d times because the channel is closed", n)
		}
		a.shut("c:1")
		a.cut()
		time.Sleep(10 * time.Second)
		if n := p.says("c:1"); n < 3 || n > 5 {
			a.Errorf("in 10 s without a connection and a channel it was asked %d times", n)
		}
	})
}
