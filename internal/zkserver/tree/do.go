package tree

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// reading does a request that changes nothing but watches.
type reading func(r *request) (Body, jute.Code)

// writing does a request inside a transaction.
type writing func(tx *txn, op jute.Op, d *jute.Decoder) (Body, jute.Code)

// readings are the requests that are no transactions.
var readings = map[jute.Op]reading{
	jute.OpPing:                 ping,
	jute.OpExists:               exists,
	jute.OpGetData:              getData,
	jute.OpGetACL:               getACL,
	jute.OpGetChildren:          getChildren,
	jute.OpGetChildren2:         getChildren,
	jute.OpSync:                 syncPath,
	jute.OpMultiRead:            multiRead,
	jute.OpGetEphemerals:        getEphemerals,
	jute.OpGetAllChildrenNumber: getAllChildrenNumber,
	jute.OpWhoAmI:               whoAmI,
	jute.OpSetWatches:           setWatches,
	jute.OpSetWatches2:          setWatches2,
	jute.OpAddWatch:             addWatch,
	jute.OpCheckWatches:         checkWatches,
	jute.OpRemoveWatches:        removeWatches,
	jute.OpReconfig:             reconfig,
}

// writings are the requests that are transactions. Each takes a zxid, even if it fails.
var writings = map[jute.Op]writing{
	jute.OpCreate:          create,
	jute.OpCreate2:         create,
	jute.OpCreateContainer: create,
	jute.OpCreateTTL:       create,
	jute.OpDelete:          deleteNode,
	jute.OpDeleteContainer: deleteContainer,
	jute.OpSetData:         setData,
	jute.OpSetACL:          setACL,
	jute.OpCheck:           check,
	jute.OpMulti:           multi,
}

// Reply is the answer to a request.
type Reply struct {
	Zxid int64
	Code jute.Code
	Body Body // nil if there is none

	// Silent says that ZooKeeper 3.8 sends no answer.
	Silent bool
	// TooLong says that the answer would have been longer than MaxReply: the connection is to
	// be ended.
	TooLong bool
	// Exceeded are the quotas that this request has exceeded, and the one before had not. They
	// are for the server's log: the request was done.
	Exceeded []Exceeded
}

// Knows tells whether Do does requests with the operation. It does none that is about the
// connection: createSession, closeSession, auth, sasl.
func (st *State) Knows(op jute.Op) bool {
	if op == jute.OpCheck {
		return st.release.knowsCheck()
	}
	_, reads := readings[op]
	return reads || IsWrite(op)
}

// IsWrite tells whether an operation is a transaction.
func IsWrite(op jute.Op) bool {
	_, ok := writings[op]
	return ok
}

// Do does a request of a client that has a session. For an operation that it does not know
// the answer is CodeUnimplemented, as ZooKeeper's.
func (st *State) Do(now time.Time, c *Client, op jute.Op, body []byte) Reply {
	d := jute.NewDecoder(body)
	if !st.Knows(op) {
		return Reply{Zxid: -1, Code: jute.CodeUnimplemented}
	}
	if do, ok := writings[op]; ok {
		tx := st.begin(now, c.Session.id, c.Identities)
		result, code := do(tx, op, d)
		if code != jute.CodeOK {
			tx.rollback()
		} else {
			tx.commit()
		}
		if tx.unread || st.release.takesNoZxid(op, code) {
			st.zxid--
		}
		// ZooKeeper 3.8 fails to write the answer to a check that holds.
		silent := op == jute.OpCheck && code == jute.CodeOK
		return Reply{Zxid: st.zxid, Code: code, Body: result, Silent: silent, Exceeded: st.quotas.news(st.nodes)}
	}
	r := &request{state: st, client: c, op: op, body: d}
	result, code := readings[op](r)
	return Reply{Zxid: st.zxid, Code: code, Body: result, TooLong: r.tooLong}
}

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
