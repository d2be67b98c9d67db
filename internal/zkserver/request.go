package zkserver

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// reading does a request that changes nothing but watches and identities.
type reading func(r *request) (encoder, jute.Code)

// writing does a request inside a transaction.
type writing func(tx *txn, op jute.Op, d *jute.Decoder) (encoder, jute.Code)

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

// request is a request being done.
type request struct {
	store *store
	conn  *conn
	op    jute.Op
	body  *jute.Decoder
}

// receive does what a frame asks. It is false if nothing more is to be read.
func (s *Server) receive(c *conn, frame []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.gone {
		return false
	}
	s.traffic.received++
	c.activity.received++
	if c.session == nil {
		s.connect(c, frame)
		return !c.gone
	}
	var header jute.RequestHeader
	body := jute.NewDecoder(frame)
	if header.Decode(body); body.Err() != nil {
		s.cut(c)
		return false
	}
	s.store.touch(c.session)
	fate := s.fateOf(target{header.Op, c.session.id, body.Rest()})
	switch {
	case fate.failing:
		c.reply(header.Xid, s.store.zxid, fate.code, nil)
	case !fate.cutBefore:
		c.mute = fate.cutAfter
		if fate.delay > 0 {
			c.notBefore = time.Now().Add(fate.delay)
		}
		s.do(c, header, body)
	}
	if fate.cutBefore || fate.cutAfter {
		s.finish(c)
	}
	return !c.gone
}

// do does a request and answers it.
func (s *Server) do(c *conn, header jute.RequestHeader, body *jute.Decoder) {
	st := s.store
	if do, ok := writings[header.Op]; ok {
		tx := st.begin(c.session.id, c.identities)
		result, code := do(tx, header.Op, body)
		if code != jute.CodeOK {
			tx.rollback()
		} else {
			tx.commit()
		}
		if header.Op == jute.OpCheck && code == jute.CodeOK {
			return // ZooKeeper 3.8 fails to write this answer, and the client gets none
		}
		c.activity.answered(header.Op, header.Xid, st.zxid, code, s.clock.elapsed())
		c.reply(header.Xid, st.zxid, code, result)
		return
	}
	if do, ok := readings[header.Op]; ok {
		result, code := do(&request{st, c, header.Op, body})
		c.activity.answered(header.Op, header.Xid, st.zxid, code, s.clock.elapsed())
		c.reply(header.Xid, st.zxid, code, result)
		return
	}
	switch header.Op {
	case jute.OpAuth:
		s.authenticate(c, header, body)
	case jute.OpClose:
		s.closeSession(c, header)
	default:
		c.reply(header.Xid, -1, jute.CodeUnimplemented, nil)
		s.finish(c)
	}
}

// record is a pointer to a T that is a jute.Record.
type record[T any] interface {
	*T
	jute.Record
}

// decode reads a request's body.
func decode[T any, P record[T]](d *jute.Decoder) (T, jute.Code) {
	var body T
	if P(&body).Decode(d); d.Err() != nil {
		return body, jute.CodeMarshallingError
	}
	return body, jute.CodeOK
}
