package zkserver

import (
	"fmt"
	"time"

	"github.com/go-curator/curator/internal/jute"
)

// activity is what a connection has done. The Server's lock guards it.
type activity struct {
	established    time.Time
	received, sent int64 // messages

	last string        // what was answered last, "" before the handshake
	xid  int32         // of the last request that had one of its own
	zxid int64         // of the last answer
	at   time.Duration // since the server's start
}

// shortNames are ZooKeeper's names of requests in the answer to cons.
var shortNames = map[jute.Op]string{
	jute.OpPing: "PING", jute.OpCreateSession: "SESS", jute.OpMulti: "MULT", jute.OpMultiRead: "MLTR",
	jute.OpCreate: "CREA", jute.OpCreate2: "CREA", jute.OpCreateContainer: "CREA", jute.OpCreateTTL: "CREA",
	jute.OpDelete: "DELE", jute.OpSetData: "SETD", jute.OpReconfig: "RECO", jute.OpSetACL: "SETA",
	jute.OpSync: "SYNC", jute.OpCheck: "CHEC", jute.OpExists: "EXIS", jute.OpGetData: "GETD",
	jute.OpSetWatches: "SETW", jute.OpSetWatches2: "STW2", jute.OpAddWatch: "ADDW", jute.OpGetACL: "GETA",
	jute.OpGetChildren: "GETC", jute.OpGetChildren2: "GETC", jute.OpGetAllChildrenNumber: "GETACN",
	jute.OpCheckWatches: "CHKW", jute.OpRemoveWatches: "REMW", jute.OpWhoAmI: "HOMI", jute.OpGetEphemerals: "GETE",
}

// answered notes that a request was answered. Of a transaction that failed ZooKeeper does
// not know any more what it was.
func (a *activity) answered(op jute.Op, xid int32, zxid int64, code jute.Code, at time.Duration) {
	a.last = shortNames[op]
	if _, write := writings[op]; write && code != jute.CodeOK {
		a.last = "NA"
	}
	if xid >= 0 {
		a.xid = xid
	}
	a.zxid, a.at = zxid, at
}

// describe returns a connection's line in the answers to stat and, with details, to cons.
// Nothing ever waits to be done, and what is done takes no time.
func (c *conn) describe(details bool) string {
	a := &c.activity
	interest := 0 // in reading: not after a four-letter word
	if c.session != nil {
		interest = 1
	}
	line := fmt.Sprintf(" /%v[%d](queued=0,recved=%d,sent=%d", c.net.RemoteAddr(), interest, a.received, a.sent)
	if details && c.session != nil {
		line += fmt.Sprintf(",sid=0x%x,lop=%s,est=%d,to=%d,lcxid=0x%x,lzxid=0x%x,lresp=%d,llat=0,minlat=0,avglat=0,maxlat=0",
			c.session.id, a.last, a.established.UnixMilli(), c.session.timeout.Milliseconds(), a.xid, a.zxid, a.at.Milliseconds())
	}
	return line + ")\n"
}
