package tree

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// Create makes a persistent node with an open ACL as a request of nobody's session would. The
// reply has no body.
func (st *State) Create(now time.Time, path string, data []byte) Reply {
	tx := st.begin(now, 0, nil)
	_, _, code := tx.create(jute.OpCreate, jute.CreateTTLRequest{Path: path, Data: data, ACL: openACL, TTL: -1})
	if code == jute.CodeOK {
		tx.commit()
	}
	return Reply{Zxid: st.zxid, Code: code, Exceeded: st.quotas.news(st.nodes)}
}
