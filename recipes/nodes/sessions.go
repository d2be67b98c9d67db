package nodes

import (
	"slices"
	"sync"

	"github.com/go-curator/curator/internal/zkclient"
)

// maxSessions is how many sessions are remembered. A node outlives its session by less than a
// session timeout, so the last few are enough.
const maxSessions = 16

// sessions are those on which the keepers of a client have created nodes, the newest last. They
// tell a node of an earlier session of this client from another client's.
type sessions struct {
	mu  sync.Mutex
	ids []int64
}

// sessionsOf returns the sessions that all keepers of a client share.
func sessionsOf(api *zkclient.Client) *sessions {
	return zkclient.SharedOf[sessions](api)
}

func (s *sessions) add(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 || slices.Contains(s.ids, id) {
		return
	}
	s.ids = append(s.ids, id)
	if len(s.ids) > maxSessions {
		s.ids = slices.Delete(s.ids, 0, 1)
	}
}

// all returns a copy.
func (s *sessions) all() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ids)
}

func (s *sessions) has(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.ids, id)
}

// foreign reports whether a node that was read on a session is an ephemeral one of another client.
func (s *sessions) foreign(seen sighting) bool {
	return seen.there && seen.owner != 0 && seen.owner != seen.session && !s.has(seen.owner)
}

// sighting is what a read has shown of the node. The zero sighting is that of a node that is
// missing.
type sighting struct {
	there    bool
	readable bool // data is that of the node
	data     []byte
	czxid    int64
	mzxid    int64
	version  int32
	owner    int64 // the session of an ephemeral node, else 0
	session  int64 // of the client, when the node was read
}
