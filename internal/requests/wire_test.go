package requests_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/wait"
)

// wire has what one client sends.
type wire struct {
	name string // before each of its requests; "" for the client of which most cases are

	mu      sync.Mutex
	sent    []request
	created string // the path of the last create of an ephemeral node
}

// request is a request as text, with the time at which it was sent.
type request struct {
	at   time.Time
	text string
}

// take returns what was sent since the last call.
func (w *wire) take() []request {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

// lastEphemeral returns the path of the last ephemeral node that the client has sent a create of.
func (w *wire) lastEphemeral() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.created
}

// tap returns a dialer whose connections are recorded. It takes some time, so that what waits for a
// connection is sent as soon as there is one, whatever pause comes before another try.
func (w *wire) tap(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := wait.For(ctx, dialing); err != nil {
			return nil, err
		}
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &tappedConn{Conn: c, wire: w}, nil
	}
}

// tappedConn is a connection that is recorded.
type tappedConn struct {
	net.Conn
	wire *wire
	part []byte // of a frame that is being written
	said bool   // the connect request is through
}

func (c *tappedConn) Write(p []byte) (int, error) {
	c.part = append(c.part, p...)
	for len(c.part) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(c.part))
		if len(c.part) < n {
			break
		}
		c.wire.record(c.part[4:n], !c.said)
		c.said = true
		c.part = c.part[n:]
	}
	return c.Conn.Write(p)
}

func (w *wire) record(frame []byte, hello bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var text string
	d := jute.NewDecoder(frame)
	if hello {
		var r jute.ConnectRequest
		r.Decode(d)
		if text = "connect"; r.SessionID != 0 {
			text = "reconnect"
		}
	} else {
		var h jute.RequestHeader
		h.Decode(d)
		if h.Op == jute.OpPing {
			return
		}
		text = w.render(h.Op, d)
	}
	if d.Err() != nil {
		text += " " + d.Err().Error()
	}
	w.sent = append(w.sent, request{time.Now(), text})
}

// render returns a request as text. It reads from d what is behind the request's header.
func (w *wire) render(op jute.Op, d *jute.Decoder) string {
	name := jute.OpName(op)
	switch op {
	case jute.OpCreate, jute.OpCreate2, jute.OpCreateContainer:
		var r jute.CreateRequest
		r.Decode(d)
		if r.Flags == jute.FlagEphemeral || r.Flags == jute.FlagEphemeral|jute.FlagSequential {
			w.created = r.Path
		}
		return name + " " + short(r.Path) + modeText(r.Flags) + aclText(r.ACL)
	case jute.OpCreateTTL:
		var r jute.CreateTTLRequest
		r.Decode(d)
		return fmt.Sprintf("%s %s%s %dms%s", name, short(r.Path), modeText(r.Flags), r.TTL, aclText(r.ACL))
	case jute.OpDelete:
		var r jute.DeleteRequest
		r.Decode(d)
		return name + " " + short(r.Path) + versionText(r.Version)
	case jute.OpCheck:
		var r jute.CheckVersionRequest
		r.Decode(d)
		return name + " " + short(r.Path) + versionText(r.Version)
	case jute.OpSetData:
		var r jute.SetDataRequest
		r.Decode(d)
		return name + " " + short(r.Path) + versionText(r.Version)
	case jute.OpSetACL:
		var r jute.SetACLRequest
		r.Decode(d)
		return name + " " + short(r.Path) + versionText(r.Version) + aclText(r.ACL)
	case jute.OpExists, jute.OpGetData, jute.OpGetChildren, jute.OpGetChildren2:
		var r jute.PathWatchRequest
		r.Decode(d)
		if r.Watch {
			return name + " " + short(r.Path) + " watch"
		}
		return name + " " + short(r.Path)
	case jute.OpGetACL, jute.OpSync:
		var r jute.PathRequest
		r.Decode(d)
		return name + " " + short(r.Path)
	case jute.OpMulti, jute.OpMultiRead:
		return name + " [" + strings.Join(w.parts(d), ", ") + "]"
	}
	return name + renderRest(op, d)
}

// renderRest is render for requests that are no operation on one node.
func renderRest(op jute.Op, d *jute.Decoder) string {
	switch op {
	case jute.OpSetWatches:
		var r jute.SetWatches
		r.Decode(d)
		return listText("data", r.DataWatches) + listText("exists", r.ExistWatches) + listText("children", r.ChildWatches)
	case jute.OpSetWatches2:
		var r jute.SetWatches2
		r.Decode(d)
		return listText("data", r.DataWatches) + listText("exists", r.ExistWatches) + listText("children", r.ChildWatches) +
			listText("persistent", r.PersistentWatches) + listText("recursive", r.PersistentRecursiveWatches)
	case jute.OpAddWatch:
		var r jute.AddWatchRequest
		r.Decode(d)
		return " " + short(r.Path) + map[int32]string{jute.ModePersistent: " persistent", jute.ModePersistentRecursive: " recursive"}[r.Mode]
	case jute.OpRemoveWatches, jute.OpCheckWatches:
		var r jute.WatchesRequest
		r.Decode(d)
		return " " + short(r.Path) + map[int32]string{jute.WatcherChildren: " children", jute.WatcherData: " data", jute.WatcherAny: " any"}[r.Type]
	case jute.OpAuth:
		var r jute.AuthPacket
		r.Decode(d)
		return " " + r.Scheme
	case jute.OpReconfig:
		var r jute.ReconfigRequest
		r.Decode(d)
		return fmt.Sprintf(" joining %q, leaving %q, members %q, config %d", r.Joining, r.Leaving, r.NewMembers, r.CurConfigID)
	}
	return ""
}

// parts returns the operations of a multi.
func (w *wire) parts(d *jute.Decoder) (parts []string) {
	for d.Err() == nil {
		var h jute.MultiHeader
		if h.Decode(d); h.Done {
			break
		}
		parts = append(parts, w.render(h.Type, d))
	}
	return parts
}

func modeText(flags int32) string {
	modes := map[int32]string{
		0: "", jute.FlagEphemeral: " ephemeral", jute.FlagSequential: " sequential",
		jute.FlagEphemeral | jute.FlagSequential: " ephemeral sequential",
		jute.FlagContainer:                       "", jute.FlagTTL: "", jute.FlagSequentialTTL: " sequential",
	}
	if text, ok := modes[flags]; ok {
		return text
	}
	return " flags " + strconv.Itoa(int(flags))
}

func versionText(version int32) string {
	if version == -1 {
		return ""
	}
	return " version " + strconv.Itoa(int(version))
}

// aclText returns an ACL that does not open the node to everybody.
func aclText(acl []jute.ACL) string {
	if len(acl) == 1 && acl[0] == (jute.ACL{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}) {
		return ""
	}
	var all []string
	for _, a := range acl {
		all = append(all, fmt.Sprintf("%d:%s", a.Perms, a.ID.Scheme))
	}
	return " acl " + strings.Join(all, ",")
}

func listText(name string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var all []string
	for _, path := range paths {
		all = append(all, short(path))
	}
	slices.Sort(all)
	return " " + name + " " + strings.Join(all, ",")
}

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	sequences = regexp.MustCompile(`0{4}(\d{6})\b`)
	times     = regexp.MustCompile(`\|[0-9A-F]{10,}\|`) // of a delay queue
)

// short returns a path without what differs from run to run, and with short numbers.
func short(path string) string {
	path = times.ReplaceAllString(uuids.ReplaceAllString(path, "UUID"), "|TIME|")
	return sequences.ReplaceAllStringFunc(path, func(digits string) string {
		n, _ := strconv.Atoi(digits)
		return "#" + strconv.Itoa(n)
	})
}
