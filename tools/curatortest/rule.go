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
	// Op is the operation: "create", "delete", "getData", "multi". "create",
	// "getChildren" and "setWatches" are their later forms, such as create2, too;
	// "createSession" is a client's handshake. "" is any but createSession and ping.
	Op string
	// Path is a path, or a prefix that ends in /** and means everything below; "" is any.
	// A multi matches if one of its operations is on the path. A sequential create has the path
	// that the client sends, without the number.
	Path string
	// SessionID is the session; 0 is any.
	SessionID int64
	// Times is how often; 0 is once.
	Times int
	// Do is what happens.
	Do Fate
}

// Fate is what happens to a request.
type Fate struct {
	fate  zkserver.Fate
	fails bool
	err   error         // of Fail, whose code is looked up by Inject
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

// mistake returns why no request can ever meet the rule, or "".
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

// isOperation tells whether an operation has the name.
func isOperation(name string) bool {
	for op := jute.OpClose; op <= jute.OpWhoAmI; op++ {
		if jute.OpName(op) == name {
			return op != jute.OpError
		}
	}
	return false
}
