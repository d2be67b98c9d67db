package curatortest

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver"
)

// Rule selects requests and says what happens to them.
type Rule struct {
	// Op is the operation, such as "create", "delete", "getData" or "multi". "create",
	// "getChildren" and "setWatches" also match their later forms, such as create2.
	// "createSession" is a client's handshake. "" matches all but createSession and ping.
	Op string
	// Path is a path, or a prefix with /** at its end, which matches all paths below. "" matches
	// every path. A multi matches if one of its operations does. A sequential create has the path
	// that the client sends, without the number.
	Path string
	// SessionID is the session; 0 matches every session.
	SessionID int64
	// Times is the number of requests; 0 is one request.
	Times int
	// Do is what happens to the requests.
	Do Fate
}

// Fate is what happens to a request.
type Fate struct {
	fate  zkserver.Fate
	fails bool
	err   error         // of Fail; Inject finds its code
	after time.Duration // of Delay
}

// Delay answers d later. Later messages on the connection wait for the answer.
func Delay(d time.Duration) Fate { return Fate{fate: zkserver.Delay(d), after: d} }

// Fail answers with err, an error of package framework, and does not apply the request.
func Fail(err error) Fate { return Fate{fails: true, err: err} }

// CutBefore closes the connection without applying the request.
func CutBefore() Fate { return Fate{fate: zkserver.CutBefore()} }

// CutAfter applies the request and closes the connection without answering.
func CutAfter() Fate { return Fate{fate: zkserver.CutAfter()} }

// mistake returns why no request can ever match the rule, or "".
func (r Rule) mistake() string {
	switch fate := r.Do; {
	case r.Op != "" && r.Op != "createSession" && !isOperation(r.Op):
		return fmt.Sprintf("Op is %q: there is no such operation", r.Op)
	case r.Path != "" && !strings.HasPrefix(r.Path, "/"):
		return fmt.Sprintf("Path is %q: it must begin with a slash", r.Path)
	case r.Times < 0:
		return fmt.Sprintf("Times is %d: it must not be below 0", r.Times)
	case fate.fails && fate.err == nil:
		return "Do is Fail(nil): there is no error to answer with"
	case fate.after < 0:
		return fmt.Sprintf("Do is Delay(%v): it must not be below 0", fate.after)
	}
	return ""
}

// isOperation reports whether there is an operation with the name.
func isOperation(name string) bool {
	for op := jute.OpClose; op <= jute.OpWhoAmI; op++ {
		if jute.OpName(op) == name {
			return op != jute.OpError
		}
	}
	return false
}
