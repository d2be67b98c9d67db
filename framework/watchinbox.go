package framework

import (
	"context"
	"runtime"
	"sync"

	"github.com/go-curator/curator/internal/zkconn"
)

// watchInbox takes events of watches from the session layer, which must not be held up, and
// delivers them in order on a goroutine that lives while there are any.
type watchInbox struct {
	mu       sync.Mutex
	messages []watchMessage
	running  bool
	group    group
}

// watchMessage is an event and the registration that is told of it, or the removal of the registration.
type watchMessage struct {
	registration *registration
	event        zkconn.WatchEvent
	removal      bool
}

func (i *watchInbox) add(m watchMessage) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.running && !i.group.start(i.deliver) {
		return
	}
	i.running = true
	i.messages = append(i.messages, m)
}

// deliver passes on what there is. Each watcher's function gets a goroutine of its own. If they
// all began at once, whoever waits for an answer of the server's would be behind them all.
func (i *watchInbox) deliver() {
	const atOnce = 64
	for {
		i.mu.Lock()
		messages := i.messages
		i.messages = nil
		i.running = len(messages) > 0
		i.mu.Unlock()
		if len(messages) == 0 {
			return
		}
		for n, m := range messages {
			if m.removal {
				m.registration.deliverRemoval()
			} else {
				m.registration.deliver(m.event)
			}
			if n%atOnce == atOnce-1 {
				runtime.Gosched()
			}
		}
	}
}

// close returns when everything was delivered, and nothing more will be.
func (i *watchInbox) close(ctx context.Context) {
	i.group.close()
	i.group.wait(context.WithoutCancel(ctx)) // it runs no code but ours
}
