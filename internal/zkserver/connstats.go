package zkserver

import (
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// traffic counts the messages that went in and out.
type traffic struct {
	received, sent int64
}

// connStats are what a connection has done. The Server's lock guards it.
type connStats struct {
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
func (a *connStats) answered(op jute.Op, xid int32, zxid int64, code jute.Code, at time.Duration) {
	a.last = shortNames[op]
	if tree.IsWrite(op) && code != jute.CodeOK {
		a.last = "NA"
	}
	if xid >= 0 {
		a.xid = xid
	}
	a.zxid, a.at = zxid, at
}
