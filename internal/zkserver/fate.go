package zkserver

import (
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// Fate is what happens to a request. The zero Fate is to be done.
type Fate struct {
	delay     time.Duration
	failing   bool
	code      jute.Code
	cutBefore bool
	cutAfter  bool
}

// Delay has the request done and answered d later. Everything that the connection is sent
// after that waits behind the answer.
func Delay(d time.Duration) Fate { return Fate{delay: d} }

// Fail has the request answered with code, and not done.
func Fail(code jute.Code) Fate { return Fate{failing: true, code: code} }

// CutBefore has the connection closed, and the request not done.
func CutBefore() Fate { return Fate{cutBefore: true} }

// CutAfter has the request done, and the connection closed without an answer.
func CutAfter() Fate { return Fate{cutAfter: true} }

// Rule picks requests and says what happens to them. The type of this name in package curatortest
// documents the fields.
type Rule struct {
	Op        string // a name of [jute.OpName], or of families; "" is any but createSession and ping
	Path      string // a path, or a prefix that ends in /**; "" is any
	SessionID int64  // 0 is any
	Times     int    // 0 is once
	Do        Fate
}

// rule is a Rule at work.
type rule struct {
	Rule
	left int
	hits int
}

// target is a request as a Rule sees it.
type target struct {
	op      jute.Op
	session int64
	body    []byte
}

// rules are tried in order.
type rules []*rule

// use returns what the first rule that fits a request says, and counts that.
func (rs *rules) use(t target) Fate {
	*rs = slices.DeleteFunc(*rs, func(r *rule) bool { return r.left == 0 })
	for _, r := range *rs {
		if r.fits(t) {
			r.left--
			r.hits++
			return r.Do
		}
	}
	return Fate{}
}

// families are the names that stand for an operation's later forms, too.
var families = map[string][]jute.Op{
	"":              nil,
	"create":        {jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer, jute.OpCreateTTL},
	"getChildren":   {jute.OpGetChildren, jute.OpGetChildren2},
	"setWatches":    {jute.OpSetWatches, jute.OpSetWatches2},
	"createSession": {jute.OpCreateSession},
}

// fits tells whether the rule is about a request.
func (r *rule) fits(t target) bool {
	if r.SessionID != 0 && r.SessionID != t.session {
		return false
	}
	ops, isFamily := families[r.Op]
	switch {
	case r.Op == "":
		if t.op == jute.OpPing || t.op == jute.OpCreateSession {
			return false
		}
	case isFamily:
		if !slices.Contains(ops, t.op) {
			return false
		}
	case r.Op != jute.OpName(t.op):
		return false
	}
	return r.Path == "" || slices.ContainsFunc(tree.Paths(t.op, t.body), r.covers)
}

// covers tells whether the rule is about a path.
func (r *rule) covers(path string) bool {
	if below, ok := strings.CutSuffix(r.Path, "/**"); ok {
		return strings.HasPrefix(path, below+"/")
	}
	return path == r.Path
}
