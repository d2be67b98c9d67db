package tree_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/tree"
)

// What a step of a script can be besides a request.
const (
	newSession = 200 + iota // the client gets another session; the former one goes on alone
	endSession
	forget // the connection ends
	reap
	restart
)

// step is one step of a script: who does it, what it is, and the body of a request.
type step struct {
	client uint8
	op     uint8
	body   tree.Body
}

// script is the input of a fuzz test: steps with the length of their bodies.
func script(steps ...step) []byte {
	var b []byte
	for _, s := range steps {
		var body []byte
		if s.body != nil {
			body = s.body.Append(nil)
		}
		b = binary.BigEndian.AppendUint16(append(b, s.client, s.op), uint16(len(body)))
		b = append(b, body...)
	}
	return b
}

func node(path, data string, flags int32) *jute.CreateRequest {
	return &jute.CreateRequest{Path: path, Data: []byte(data), Flags: flags, ACL: []jute.ACL{{
		Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"},
	}}}
}

func watching(path string) *jute.PathWatchRequest {
	return &jute.PathWatchRequest{Path: path, Watch: true}
}

// multi is the body of a multi.
type multi []step

func (m multi) Append(b []byte) []byte {
	for _, s := range m {
		b = s.body.Append((&jute.MultiHeader{Type: jute.Op(s.op), Err: -1}).Append(b))
	}
	return (&jute.MultiHeader{Type: jute.OpError, Done: true, Err: -1}).Append(b)
}

// seeds are the scripts that fuzzing begins with.
var seeds = map[string][]byte{
	"nodes": script(
		step{0, uint8(jute.OpCreate), node("/a", "x", 0)}, step{0, uint8(jute.OpCreate2), node("/a/s-", "", jute.FlagSequential)},
		step{0, uint8(jute.OpSetData), &jute.SetDataRequest{Path: "/a", Data: []byte("yy"), Version: 0}},
		step{1, uint8(jute.OpSetACL), &jute.SetACLRequest{Path: "/a", ACL: node("", "", 0).ACL, Version: -1}},
		step{1, uint8(jute.OpGetChildren2), watching("/a")}, step{1, uint8(jute.OpGetACL), &jute.PathRequest{Path: "/a"}},
		step{1, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/a/s-0000000000", Version: -1}},
	),
	"sessions": script(
		step{0, uint8(jute.OpCreate), node("/e", "", jute.FlagEphemeral)}, step{1, uint8(jute.OpExists), watching("/e")},
		step{0, uint8(jute.OpGetEphemerals), &jute.PathRequest{Path: "/"}}, step{0, newSession, nil}, step{1, restart, nil},
		step{0, uint8(jute.OpCreate), node("/s-", "", jute.FlagEphemeral|jute.FlagSequential)}, step{0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/e", Version: -1}},
		step{0, endSession, nil}, step{1, forget, nil},
	),
	"multi": script(
		step{0, uint8(jute.OpMulti), multi{
			{0, uint8(jute.OpCreate), node("/a", "", 0)}, {0, uint8(jute.OpCreate2), node("/a/b", "", jute.FlagEphemeral)},
			{0, uint8(jute.OpCheck), &jute.CheckVersionRequest{Path: "/a", Version: 0}},
		}},
		step{1, uint8(jute.OpMulti), multi{
			{0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/a/b", Version: -1}}, {0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/a", Version: -1}},
			{0, uint8(jute.OpSetData), &jute.SetDataRequest{Path: "/", Data: []byte("x"), Version: -1}}, {0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/b", Version: -1}},
		}},
		step{1, uint8(jute.OpMultiRead), multi{{0, uint8(jute.OpGetData), watching("/a")}, {0, uint8(jute.OpGetChildren), watching("/")}}},
	),
	"watches": script(
		step{0, uint8(jute.OpAddWatch), &jute.AddWatchRequest{Path: "/", Mode: jute.ModePersistentRecursive}},
		step{1, uint8(jute.OpAddWatch), &jute.AddWatchRequest{Path: "/a", Mode: jute.ModePersistent}},
		step{1, uint8(jute.OpSetWatches2), &jute.SetWatches2{RelativeZxid: 1, DataWatches: []string{"/", "/a"}, PersistentWatches: []string{"/b"}}},
		step{2, uint8(jute.OpCreate), node("/a", "", 0)}, step{1, uint8(jute.OpRemoveWatches), &jute.WatchesRequest{Path: "/a", Type: jute.WatcherAny}},
		step{0, uint8(jute.OpCheckWatches), &jute.WatchesRequest{Path: "/", Type: jute.WatcherData}}, step{0, forget, nil},
	),
	"containers": script(
		step{0, uint8(jute.OpCreateContainer), node("/c", "", jute.FlagContainer)}, step{0, uint8(jute.OpCreate), node("/c/x", "", 0)},
		step{0, uint8(jute.OpCreateTTL), &jute.CreateTTLRequest{Path: "/t", ACL: node("", "", 0).ACL, Flags: jute.FlagTTL, TTL: 1}},
		step{1, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/c/x", Version: -1}}, step{0, reap, nil},
	),
	"quotas": script(
		step{0, uint8(jute.OpCreate), node("/a", "", 0)}, step{0, uint8(jute.OpCreate), node("/zookeeper/quota/a", "", 0)},
		step{0, uint8(jute.OpCreate), node("/zookeeper/quota/a/zookeeper_limits", "count=1,bytes=1;byteHardLimit=3", 0)},
		step{0, uint8(jute.OpCreate), node("/zookeeper/quota/a/zookeeper_stats", "count=1,bytes=0", 0)},
		step{1, uint8(jute.OpCreate), node("/a/b", "12345", jute.FlagEphemeral)},
		step{1, uint8(jute.OpMulti), multi{
			{0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/zookeeper/quota/a/zookeeper_limits", Version: -1}},
			{0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/none", Version: -1}},
		}},
		step{1, uint8(jute.OpMulti), multi{
			{0, uint8(jute.OpSetData), &jute.SetDataRequest{Path: "/a", Data: []byte("x"), Version: -1}},
			{0, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/none", Version: -1}},
		}},
		step{1, uint8(jute.OpDelete), &jute.DeleteRequest{Path: "/a/b", Version: -1}}, step{1, endSession, nil},
	),
}

// FuzzState plays scripts, and looks after each step whether the state can be: a request that
// fails has changed nothing.
func FuzzState(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, release := range tree.Releases() {
			newStage(release).play(t, script)
		}
	})
}

// stage is where a script is played, by three clients.
type stage struct {
	release tree.Release
	state   *tree.State
	now     time.Time
	clients [3]*tree.Client
	events  []string
}

func newStage(release tree.Release) *stage {
	s := &stage{release: release, now: time.UnixMilli(1_000_000)}
	s.state = tree.New(s.now, tree.Config{TickTime: time.Second, Release: release})
	for i := range s.clients {
		s.clients[i] = &tree.Client{
			Notify: func(event int32, path string, _ int64) {
				s.events = append(s.events, string(rune('0'+i))+string('0'+event)+path)
			},
		}
		s.clients[i].Identify(jute.ID{Scheme: "digest", ID: "user:" + string(rune('0'+i))})
		s.join(i)
	}
	return s
}

func (s *stage) join(i int) {
	s.clients[i].Session = s.state.CreateSession(s.now, 10*time.Second, []byte("password"))
}

// play returns the replies.
func (s *stage) play(t *testing.T, script []byte) (replies []byte) {
	for steps := 0; len(script) >= 4 && steps < 200; steps++ {
		client, op, length := int(script[0])%len(s.clients), script[1], int(binary.BigEndian.Uint16(script[2:]))
		length = min(length, len(script)-4)
		body := script[4 : 4+length]
		script = script[4+length:]
		s.now = s.now.Add(time.Millisecond)
		replies = append(replies, s.step(t, client, op, body)...)
		if err := s.state.Check(); err != nil {
			t.Fatalf("after %s of client %d with %q: %v", jute.OpName(jute.Op(op)), client, body, err)
		}
	}
	return replies
}

func (s *stage) step(t *testing.T, i int, op uint8, body []byte) []byte {
	c := s.clients[i]
	switch op {
	case newSession:
		s.join(i)
	case endSession:
		s.state.EndSession(s.now, c.Session)
		s.join(i)
	case forget:
		s.state.Forget(c)
	case reap:
		s.now = s.now.Add(time.Minute)
		s.state.Reap(s.now)
	case restart:
		s.state.Reload(s.now)
	default:
		return s.request(t, c, jute.Op(op), body)
	}
	return nil
}

func (s *stage) request(t *testing.T, c *tree.Client, op jute.Op, body []byte) []byte {
	tree.Paths(op, body)
	before, zxid := s.state.Dump(), s.state.Zxid()
	reply := s.state.Do(s.now, c, op, bytes.Clone(body))
	changed := s.state.Dump() != before
	switch {
	case changed && !tree.IsWrite(op):
		t.Fatalf("%s %q is no write and has changed nodes", jute.OpName(op), body)
	case changed && reply.Code != jute.CodeOK:
		t.Fatalf("%s %q failed with %d and has changed nodes", jute.OpName(op), body, reply.Code)
	case changed && op == jute.OpMulti && failed(reply):
		t.Fatalf("multi %q failed and has changed nodes:\n%s\n%s", body, before, s.state.Dump())
	case tree.IsWrite(op) != (s.state.Zxid() == zxid+1) && !s.mayKeepZxid(op, reply.Code):
		t.Fatalf("%s has taken %d zxids", jute.OpName(op), s.state.Zxid()-zxid)
	}
	if reply.Body == nil {
		return nil
	}
	return reply.Body.Append(nil)
}

// mayKeepZxid tells whether a request need not say by its operation alone whether it takes a zxid.
func (s *stage) mayKeepZxid(op jute.Op, code jute.Code) bool {
	return op == jute.OpReconfig || s.release > tree.Release380 && (op == jute.OpCheck || code == jute.CodeMarshallingError)
}

// failed tells whether a multi's first result is an error, as all are of one that failed.
func failed(reply tree.Reply) bool {
	var header jute.MultiHeader
	header.Decode(jute.NewDecoder(reply.Body.Append(nil)))
	return header.Type == jute.OpError && !header.Done
}
