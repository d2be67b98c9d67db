package model

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/discovery"
)

const (
	maxFacts = 64 << 10 // longer data is not that of a recipe
	maxLine  = 120      // the maximum length of the part of the first line that is kept
)

// Facts are the facts that the data of a node contains. They are kept instead of the data, which may
// be long. Facts that are not in the data are zero.
type Facts struct {
	Name    string // "orders-api on web-7, pid 4242", or the first line of the data
	Label   string
	Host    string
	PID     int
	ID      bool // Name is a participant's id, not an address or an owner
	Asked   bool // the holder was asked to release the lock; the request has replaced the data
	Service *Service
	Number  *int64 // of a counter
	Bits    int    // of Number
}

// Service is an instance of a service, in the JSON of Curator's x-discovery.
type Service struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	Address    string `json:"address"`
	Port       int    `json:"port,omitempty"`
	SSLPort    int    `json:"sslPort,omitempty"`
	Type       string `json:"type"`
	Disabled   bool   `json:"disabled,omitempty"`
	Registered int64  `json:"registered,omitempty"` // ms since 1970
}

// Read returns the facts in the data of a node.
func Read(data []byte) Facts {
	f := Facts{}
	if len(data) == 0 || len(data) > maxFacts {
		return f
	}
	if string(data) == layout.RevokeRequest {
		f.Asked = true
		return f
	}
	if f.Service = readService(data); f.Service != nil {
		f.Name = f.Service.ID
		return f
	}
	if f.Number, f.Bits = readNumber(data); f.Number != nil {
		return f
	}
	owner := layout.ParseOwner(data)
	f.Name, f.Label, f.Host, f.PID = short(owner.String()), short(owner.Label), short(owner.Host), owner.PID
	f.ID = layout.IsParticipantID(data)
	return f
}

// short cuts a text that is longer than maxLine bytes, between two characters.
func short(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return strings.ToValidUTF8(text[:maxLine], "") + "…"
}

// readService returns the instance of a service in data, nil if there is none.
func readService(data []byte) *Service {
	if !bytes.Contains(data, []byte(`"serviceType"`)) {
		return nil
	}
	s, err := discovery.JSON[struct{}]().Decode(data) // with any payload
	if err != nil {
		return nil
	}
	found := &Service{
		Name: short(s.Name), ID: short(s.ID), Address: short(s.Address), Port: s.Port, SSLPort: s.SSLPort,
		Type: s.Type.String(), Disabled: s.Disabled,
	}
	if !s.Registered.IsZero() {
		found.Registered = s.Registered.UnixMilli()
	}
	return found
}

// readNumber returns the number in the data of a counter and its bits, nil for other data. Four or
// eight printable characters are not a number, but text.
func readNumber(data []byte) (*int64, int) {
	var n int64
	switch len(data) {
	case 4:
		n = int64(int32(binary.BigEndian.Uint32(data)))
	case 8:
		n = int64(binary.BigEndian.Uint64(data))
	default:
		return nil, 0
	}
	if utf8.Valid(data) && bytes.IndexFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0 {
		return nil, 0
	}
	return &n, len(data) * 8
}

// recipe is the state of a recipe that is kept between changes.
type recipe struct {
	path    string
	kind    Kind
	problem string
	holds   []*Hold // of the present holders
	grants  int
	granted int64
	until   int64 // when the last hold ended
	most    int
	max     int
	// While somebody waits for a lease: the number of leases that are held, since fullSince.
	full      int
	fullSince time.Time
}

// moment is the time at which a change was seen. seen is false if the change may have happened
// earlier: for the first contents of the tree, and after a loss of the connection. skew is added to
// the server's times.
type moment struct {
	now  time.Time
	seen bool
	skew time.Duration
}

// ms returns a time of the server as ms since 1970 by this machine's clock.
func (m moment) ms(t time.Time) int64 { return t.Add(m.skew).UnixMilli() }

// begin returns the hold of a node that has got the lock.
func (r *recipe) begin(n *Node, c layout.Class, m moment, fresh bool) *Hold {
	h := &Hold{
		Path: r.path, Kind: r.kind, Name: n.Facts.Name, Session: SessionName(n.Session), Token: tokenOf(n),
		Role: roleOf(c), Since: m.ms(n.Created), From: m.now.UnixMilli(), Exact: m.seen,
	}
	if fresh || !m.seen { // it is not known that it has waited
		h.From = min(h.From, h.Since)
	}
	h.Since = min(h.Since, h.From)
	return h
}

// settle replaces the former holders by the present ones, and returns the holds that have ended.
// fresh reports whether a node was created in this step.
func (r *recipe) settle(holders []*child, m moment, fresh func(n *Node) bool) (ended []*Hold) {
	var kept, begun []*Hold
	for _, c := range holders {
		token := tokenOf(c.node)
		i := slices.IndexFunc(r.holds, func(h *Hold) bool { return h.Token == token })
		if i >= 0 {
			if name := c.node.Facts.Name; name != "" { // it is "" if a revocation request has replaced it
				r.holds[i].Name = name
			}
			kept = append(kept, r.holds[i])
			continue
		}
		begun = append(begun, r.begin(c.node, c.class, m, fresh(c.node)))
	}
	for _, h := range r.holds {
		if slices.Contains(kept, h) {
			continue
		}
		h.Until = max(m.now.UnixMilli(), h.From)
		if n := len(ended); n < len(begun) {
			h.Next, h.NextToken = begun[n].Name, begun[n].Token
		}
		ended = append(ended, h)
		r.until = max(r.until, h.Until)
	}
	if r.kind == Lock || r.kind == Election { // holds do not overlap, although the clocks differ
		for _, h := range begun {
			h.From = max(h.From, r.until)
		}
	}
	if len(begun) > 0 && m.seen {
		r.grants += len(begun)
		r.granted = begun[len(begun)-1].From
	}
	r.holds = slices.Concat(kept, begun)
	r.most = max(r.most, len(r.holds))
	return ended
}

// confirmAfter is how long a lease must wait until observe concludes that the others are the maximum.
// Every lease seems to wait for a moment, also one that is granted at once.
const confirmAfter = 500 * time.Millisecond

// observe infers the maximum of a semaphore. It reports whether it must be called again later.
func (r *recipe) observe(waits bool, now time.Time) (again bool) {
	if len(r.holds) > r.max {
		r.max = 0
	}
	if !waits {
		r.full = 0
		return false
	}
	if r.full != len(r.holds) {
		r.full, r.fullSince = len(r.holds), now
	}
	if r.full > 0 && now.Sub(r.fullSince) >= confirmAfter {
		r.max = r.full
		return false
	}
	return true
}

// hold returns the present hold with a token, or nil.
func (r *recipe) hold(token string) *Hold {
	for _, h := range r.holds {
		if h.Token == token {
			return h
		}
	}
	return nil
}

func roleOf(c layout.Class) string {
	switch c {
	case layout.ReadNode:
		return "read"
	case layout.WriteNode:
		return "write"
	}
	return ""
}
