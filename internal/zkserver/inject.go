package zkserver

import (
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
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

// Rule picks requests and says what happens to them.
type Rule struct {
	// Op is the operation: "delete", "getData", as [jute.OpName] has it. "create",
	// "getChildren" and "setWatches" are their later forms, too; "createSession" is the
	// handshake. "" is any but createSession and ping.
	Op string
	// Path is a path, or a prefix that ends in /** and means everything below; "" is any.
	// A multi is picked if one of its operations is on the path. A sequential create has
	// the path that the client sends, without the number.
	Path string
	// SessionID is the session; 0 is any.
	SessionID int64
	// Times is how often the rule is used; 0 is once.
	Times int
	// Do is what happens.
	Do Fate
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

// Inject makes the server treat requests as the rule says. Rules are tried in the order in
// which they were injected, and the first one that fits is used. hit returns how often this
// one was; remove takes it away.
func (s *Server) Inject(r Rule) (hit func() int, remove func()) {
	injected := &rule{Rule: r, left: max(r.Times, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append(s.rules, injected)
	hit = func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return injected.hits
	}
	remove = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		injected.left = 0
	}
	return hit, remove
}

// fateOf uses the first rule that fits a request. The caller holds the lock.
func (s *Server) fateOf(t target) Fate {
	s.rules = slices.DeleteFunc(s.rules, func(r *rule) bool { return r.left == 0 })
	for _, r := range s.rules {
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
	return r.Path == "" || slices.ContainsFunc(pathsOf(t.op, t.body), r.covers)
}

// covers tells whether the rule is about a path.
func (r *rule) covers(path string) bool {
	if below, ok := strings.CutSuffix(r.Path, "/**"); ok {
		return strings.HasPrefix(path, below+"/")
	}
	return path == r.Path
}

// pathsOf returns the paths that a request names; a multi names those of its operations.
func pathsOf(op jute.Op, body []byte) []string {
	switch op {
	case jute.OpMulti, jute.OpMultiRead:
		bodies := multiBodies
		if op == jute.OpMultiRead {
			bodies = multiReadBodies
		}
		ops, _ := split(jute.NewDecoder(body), bodies)
		var paths []string
		for _, o := range ops {
			paths = append(paths, pathsOf(o.op, o.body)...)
		}
		return paths
	case jute.OpPing, jute.OpClose, jute.OpAuth, jute.OpSetWatches, jute.OpSetWatches2, jute.OpWhoAmI,
		jute.OpCreateSession:
		return nil
	default:
		d := jute.NewDecoder(body)
		if path := d.String(); d.Err() == nil {
			return []string{path}
		}
		return nil
	}
}
