package interop_test

import (
	"net"
	"net/netip"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// nodeName is what the first contender's node is called: protected with a random UUID.
var nodeName = regexp.MustCompile(`^_c_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}-lock-0000000000$`)

// seen is what an observer sees of a node.
type seen struct {
	Stat framework.Stat
	Data []byte
	ACL  []jute.ACL
}

// Nodes and parents look alike, whichever language made them.
func TestNodeFormat(t *testing.T) {
	t.Parallel()
	var nodes, locks, roots []seen // Java's, then Go's
	for _, language := range "JG" {
		e := newReapingEnv(t) // with parents of its own
		var c contender = e.newPlainGo()
		if language == 'J' {
			c = e.newJavaAt(e.b.ConnectString())
		}
		node := e.acquire(c)
		if name := path.Base(node); !nodeName.MatchString(name) {
			t.Errorf("%c: the node's name is %q", language, name)
		}
		look := e.look(node)
		if look.Stat.EphemeralOwner != c.session() {
			t.Errorf("%c: the node is of session %x, the client's is %x", language, look.Stat.EphemeralOwner, c.session())
		}
		// Go's says more, below the line that Java has.
		address, more, _ := strings.Cut(string(look.Data), "\n")
		if _, err := netip.ParseAddr(address); err != nil || (more != "") != (language == 'G') {
			t.Errorf("%c: the node's data is not an address, with Go's below it: %q", language, look.Data)
		}
		look.Data, look.Stat.DataLength, look.Stat.EphemeralOwner = nil, 0, 0
		nodes = append(nodes, look)
		locks = append(locks, e.look(e.path))
		roots = append(roots, e.look(path.Dir(e.path)))
		if n := len(locks[len(locks)-1].Data) + len(roots[len(roots)-1].Data); n > 0 {
			t.Errorf("%c: the parents have data", language)
		}
		c.release()
		e.wantNodes()
		// Only of containers does the server remove those that are empty.
		suite.Eventually(t, "the end of the containers", func() bool {
			exists, err := e.observer.CheckExists().ForPath(t.Context(), path.Dir(e.path))
			return err == nil && !exists
		})
	}
	// What must differ are times and zxids.
	differing := cmp.Options{
		cmpopts.IgnoreFields(framework.Stat{}, "Czxid", "Mzxid", "Pzxid"),
		cmpopts.IgnoreTypes(time.Time{}),
	}
	for what, both := range map[string][]seen{"node": nodes, "lock": locks, "root": roots} {
		if diff := cmp.Diff(both[0], both[1], differing); diff != "" {
			t.Errorf("the %s of Java and that of Go differ:\n%s", what, diff)
		}
	}
}

// look reads all there is to read of a node.
func (e *env) look(node string) (s seen) {
	e.t.Helper()
	data, err := e.observer.GetData().StoringStatIn(&s.Stat).ForPath(e.t.Context(), node)
	if err != nil {
		e.t.Fatal(err)
	}
	s.Data = data
	conn, err := net.Dial("tcp", e.b.ConnectString())
	if err != nil {
		e.t.Fatal(err)
	}
	defer conn.Close()
	raw, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: 1000, Passwd: make([]byte, 16)})
	if err != nil {
		e.t.Fatal(err)
	}
	reply, err := raw.Do(jute.OpGetACL, &jute.PathRequest{Path: node})
	if err != nil {
		e.t.Fatal(err)
	}
	var acl jute.GetACLResponse
	if err := jute.Decode(reply.Body, &acl); err != nil || reply.Err != 0 {
		e.t.Fatal(err, reply.Err)
	}
	s.ACL = acl.ACL
	return s
}
