package inbox

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-curator/curator/internal/zkconn"
)

// A request that was never queued for want of a connection fails behind Suspended and before Connected, or
// is to be sent on the next connection, whenever the session layer tells of them: before it is sent, while
// it is refused, or later. Otherwise nobody would send it again after Connected.
func TestRefused(t *testing.T) {
	const suspended, connected, closed = zkconn.WatchSuspended, zkconn.WatchReset, zkconn.WatchClosed
	lost := &zkconn.TransportError{Err: zkconn.ErrConnectionLoss}
	reply, suspend, connect, end := Reply, Suspended, Connected, Closed
	for name, c := range map[string]struct {
		before, during, after []zkconn.EventType // what the session layer tells
		err                   error
		want                  []Kind
		again                 bool
	}{
		"the loss is told later":               {nil, nil, []zkconn.EventType{suspended, connected}, lost, []Kind{suspend, reply, connect}, false},
		"the loss is told meanwhile":           {nil, []zkconn.EventType{suspended}, []zkconn.EventType{connected}, lost, []Kind{suspend, reply, connect}, false},
		"the next connection comes meanwhile":  {nil, []zkconn.EventType{suspended, connected}, nil, lost, []Kind{suspend, connect}, true},
		"the next one is lost meanwhile":       {nil, []zkconn.EventType{suspended, connected, suspended}, nil, lost, []Kind{suspend, connect, suspend}, true},
		"there was none":                       {[]zkconn.EventType{suspended}, nil, []zkconn.EventType{connected}, lost, []Kind{suspend, reply, connect}, false},
		"there was none, and one comes":        {[]zkconn.EventType{suspended}, []zkconn.EventType{connected}, nil, lost, []Kind{suspend, connect}, true},
		"the client is closed later":           {nil, nil, []zkconn.EventType{closed}, lost, []Kind{reply, end}, false},
		"it is refused for another reason":     {nil, nil, []zkconn.EventType{suspended, connected}, zkconn.ErrTooLarge, []Kind{reply, suspend, connect}, false},
		"so while the next connection comes":   {nil, []zkconn.EventType{suspended, connected}, nil, zkconn.ErrTooLarge, []Kind{suspend, connect, reply}, false},
		"two losses are told later":            {nil, nil, []zkconn.EventType{suspended, connected, suspended, connected}, lost, []Kind{suspend, reply, connect, suspend, connect}, false},
		"the inbox is at its third connection": {[]zkconn.EventType{suspended, connected, suspended, connected}, nil, []zkconn.EventType{suspended, connected}, lost, []Kind{suspend, connect, suspend, connect, suspend, reply, connect}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := &Inbox{conn: &zkconn.Conn{}, wake: make(chan struct{}, 1), connected: true}
			tell := func(events []zkconn.EventType) {
				for _, e := range events {
					b.observe(e)
				}
			}
			tell(c.before)
			connections := b.connections
			tell(c.during)
			if again := !b.refused(Message{Kind: Reply}, c.err, connections); again != c.again {
				t.Errorf("to be sent again: %v", again)
			}
			tell(c.after)
			var got []Kind
			for _, m := range b.Take(nil) {
				got = append(got, m.Kind)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("messages %v, want %v", got, c.want)
			}
		})
	}
	if !errors.Is(lost, zkconn.ErrConnectionLoss) {
		t.Error("this is not how a loss is told")
	}
}
