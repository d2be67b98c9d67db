package lockview

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/locks"
)

// Lock is a lock that somebody holds or waits for.
type Lock struct {
	Path    string      `json:"path"`
	Kind    string      `json:"kind"` // "mutex", "read-write", "semaphore-v2", "latch", or "" with an error
	Holders []Contender `json:"holders"`
	Waiters []Contender `json:"waiters"` // in order
	Error   string      `json:"error,omitempty"`
	// Undecided is the lease that the first waiter of a semaphore-v2 is taking. It becomes a holder at
	// once, or waits until another lease is returned: see Decided.
	Undecided *Contender `json:"-"`
}

// Contender is a holder or a waiter. Fields that are not known are "" or 0.
type Contender struct {
	Node    string    `json:"node"`
	Owner   string    `json:"owner"` // label, host and pid as text, or the data of Java's node
	Label   string    `json:"label,omitempty"`
	Host    string    `json:"host,omitempty"`
	PID     int       `json:"pid,omitempty"`
	Session string    `json:"session"` // hexadecimal, as in ZooKeeper's logs
	Token   int64     `json:"token"`   // the fencing token
	Since   time.Time `json:"since"`   // when its node was created, by the server's clock
	// RevocationRequested says that somebody has asked the owner to release the lock. The request
	// has replaced the owner's name in the node.
	RevocationRequested bool `json:"revocationRequested"`
	// TraceParent is the span of its acquisition, in the form of the W3C.
	TraceParent string `json:"-"`

	session int64
	hasID   bool // the node's data is the id of an election's participant
}

// name returns the name of the contender's node.
func (c Contender) name() string { return c.Node[strings.LastIndexByte(c.Node, '/')+1:] }

func contenders(list []locks.Contender) []Contender {
	found := make([]Contender, 0, len(list)) // not nil, so that it is not null in JSON
	for _, c := range list {
		owner := layout.ParseOwner([]byte(c.Data))
		found = append(found, Contender{
			Node: c.Path, Owner: c.Owner, Label: owner.Label, Host: owner.Host, PID: owner.PID,
			Session: fmt.Sprintf("0x%x", uint64(c.SessionID)), Token: c.Token, Since: c.Since.UTC(),
			RevocationRequested: c.Data == layout.RevokeRequest, TraceParent: c.TraceParent,
			session: c.SessionID, hasID: layout.IsParticipantID([]byte(c.Data)),
		})
	}
	return found
}
