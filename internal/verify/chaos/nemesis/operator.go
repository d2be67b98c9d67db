package nemesis

import (
	"context"
	"time"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/verify/chaos/history"
	"github.com/go-curator/curator/tools/curatortest"
)

// operatorTimeout bounds what an operator does.
const operatorTimeout = 1500 * time.Millisecond

// contenders returns the nodes of a random lock in their order, and the lock's path.
func (a *attack) contenders(ctx context.Context) (path string, nodes []string) {
	if len(a.Locks) == 0 {
		return "", nil
	}
	path = some(a.random, a.Locks)
	names, err := a.Operator.GetChildren().ForPath(ctx, path)
	if err != nil {
		return path, nil // there is no connection, or nobody wants the lock
	}
	for _, name := range layout.Sort(names, layout.Tail) {
		nodes = append(nodes, path+"/"+name)
	}
	return path, nodes
}

// remove deletes a node by hand. Holders on it count no more from now on.
func (a *attack) remove(ctx context.Context, node string) error {
	a.Note(history.Event{At: history.Now(), Kind: history.Deleting, Node: node})
	return a.Operator.Delete().Quietly().ForPath(ctx, node)
}

// nodeDeleted deletes the node of a contender: mostly that of the first one, who holds the lock.
func nodeDeleted(ctx context.Context, a *attack) bool {
	ctx, cancel := context.WithTimeout(ctx, operatorTimeout)
	defer cancel()
	_, nodes := a.contenders(ctx)
	if len(nodes) == 0 {
		return false
	}
	node := nodes[0]
	if a.random.IntN(3) == 0 {
		node = some(a.random, nodes)
	}
	a.begin("%s", node)
	return a.remove(ctx, node) == nil
}

// nodeDeletedUnheard deletes the node of a holder while the clients of one server hear nothing: if the
// holder is among them, the next one may be granted the lock long before the holder learns of it.
func nodeDeletedUnheard(ctx context.Context, a *attack) bool {
	operating, cancel := context.WithTimeout(ctx, operatorTimeout)
	defer cancel()
	_, nodes := a.contenders(operating)
	if len(nodes) == 0 {
		return false
	}
	m, name := a.member()
	a.begin("%s, %s", nodes[0], name)
	defer m.Clients(curatortest.ToClient).Silence()()
	_ = a.remove(operating, nodes[0]) // the answer may be among what is not heard
	a.last(ctx, 0, a.Session/4)
	return true
}

// lockDeleted deletes all nodes of a lock, and its path.
func lockDeleted(ctx context.Context, a *attack) bool {
	ctx, cancel := context.WithTimeout(ctx, operatorTimeout)
	defer cancel()
	path, nodes := a.contenders(ctx)
	if len(nodes) == 0 {
		return false
	}
	a.begin("%s", path)
	for _, node := range nodes {
		if a.remove(ctx, node) != nil {
			return false
		}
	}
	_ = a.Operator.Delete().Quietly().ForPath(ctx, path) // others may have come meanwhile
	return true
}

// sessionEnded ends the session of a worker before its time.
func sessionEnded(_ context.Context, a *attack) bool {
	m := some(a.random, a.Workers)
	session := a.SessionOf(m.Name())
	if session == 0 {
		return false
	}
	a.begin("of %s, %#x", m.Name(), session)
	a.Note(history.Event{At: history.Now(), Kind: history.Expiring, Session: session})
	a.Servers.ExpireSession(session)
	return true
}
