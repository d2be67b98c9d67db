package leader_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
)

// soon is much less than the time after which a wait reads its nodes once, whatever its watches have told: see
// package lockqueue, reread.
const soon = time.Second

// L7: a watch tells a waiter at once of the end of the node ahead, whatever has happened to that node and to the
// watch before.
func TestRuleL7AtOnce(t *testing.T) {
	for name, before := range map[string]func(t *testing.T, e *env, first, m *member){
		"nothing happens": func(_ *testing.T, _ *env, _, m *member) { m.start() },
		"its data change": func(t *testing.T, e *env, first, m *member) {
			m.start()
			for range 3 {
				pass(soon / 10)
				suite.Got(e.observer.SetData().ForPath(t.Context(), first.node(), []byte("first"))).OK(t)
			}
		},
		"it goes while the watch is set": func(_ *testing.T, _ *env, first, m *member) {
			hit := m.network.On(jute.OpSetWatches, suite.Late, first.close)
			m.start()
			<-hit
		},
		"the connection breaks": func(_ *testing.T, _ *env, _, m *member) {
			m.start()
			pass(soon / 10)
			m.network.Cut()
		},
	} {
		t.Run(name, func(t *testing.T) {
			suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
				e := newEnv(t, b)
				first, m := e.joined("first"), e.member("m")
				first.leads()
				before(t, e, first, m)
				pass(soon)
				first.close() // if it is there still
				pass(soon)
				if err := m.Leadership().Err(); err != nil {
					t.Errorf("not told of the end of the node ahead: %v", err)
				}
				m.close()
			})
		})
	}
}

// L7: a waiter watches the node right ahead, and not the leader's: when the leader leaves, only the next one lists.
func TestRuleL7HasNoHerd(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		e := newEnv(t, b)
		first, second, third := e.joined("first"), e.joined("second"), e.joined("third")
		first.leads()
		pass(time.Minute)
		lists := func(m *member) int { return m.network.Requests(jute.OpGetChildren2) }
		ofSecond, ofThird := lists(second), lists(third)
		first.close()
		second.leads()
		pass(soon)
		if a, b := lists(second)-ofSecond, lists(third)-ofThird; a != 1 || b != 0 {
			t.Errorf("the next one has listed %d times, the one behind it %d times", a, b)
		}
		second.close()
		pass(soon)
		if err := third.Leadership().Err(); err != nil {
			t.Errorf("not told of the end of the node ahead: %v", err)
		}
		third.close()
	})
}
