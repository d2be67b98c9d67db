package curatortest_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// codedError is an error with a code, like those of package framework.
type codedError jute.Code

func (c codedError) Error() string { return fmt.Sprint("code ", jute.Code(c)) }
func (c codedError) Code() int32   { return jute.Code(c) }

func TestInjectFail(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c := connect(t, dial(t, s))
		hit := s.Inject(curatortest.Rule{
			Op: "create", Times: 2, Do: curatortest.Fail(fmt.Errorf("wrapped: %w", codedError(jute.CodeNoAuth))),
		})
		if hit() {
			t.Error("hit before a request")
		}
		for range 2 {
			if f, err := c.Do(jute.OpCreate2, create("/a", 0)); err != nil || f.Err != jute.CodeNoAuth {
				t.Errorf("%v, %v", f, err)
			}
		}
		if !hit() {
			t.Error("no hit")
		}
		do(t, c, jute.OpCreate, create("/a", 0))
	})
}

func TestInjectCut(t *testing.T) {
	for name, test := range map[string]struct {
		fate    curatortest.Fate
		applied bool
	}{
		"CutBefore": {curatortest.CutBefore(), false},
		"CutAfter":  {curatortest.CutAfter(), true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) {
				c := connect(t, dial(t, s))
				do(t, c, jute.OpGetChildren, watch("/"))
				s.Inject(curatortest.Rule{Path: "/a", Do: test.fate})
				// The first answer still arrives, because it is on its way by then.
				for _, path := range []string{"/b/none", "/a"} {
					if _, err := c.Send(jute.OpCreate, create(path, jute.FlagEphemeral)); err != nil {
						t.Fatal(err)
					}
				}
				if f, err := c.Receive(); err != nil || f.Err != jute.CodeNoNode {
					t.Errorf("the request before: %v, %v", f, err)
				}
				ended(t, c)
				if _, applied := s.Get("/a"); applied != test.applied {
					t.Errorf("applied: %t", applied)
				}
				resume(t, c, dial(t, s))
			})
		})
	}
}

// TestInjectCutHandshake loses a connect response, and a connect request.
func TestInjectCutHandshake(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		for sessions, fate := range []curatortest.Fate{curatortest.CutBefore(), curatortest.CutAfter()} {
			s.Inject(curatortest.Rule{Op: "createSession", Do: fate})
			if _, err := rawclient.Connect(dial(t, s), jute.ConnectRequest{TimeOut: 10000}); !errors.Is(err, io.EOF) {
				t.Errorf("handshake: %v", err)
			}
			if s.Sessions() != sessions {
				t.Errorf("%d sessions", s.Sessions())
			}
		}
		c := connect(t, dial(t, s))
		s.Inject(curatortest.Rule{
			Op: "createSession", SessionID: c.Session.SessionID, Do: curatortest.Fail(codedError(jute.CodeSessionExpired)),
		})
		if _, err := tryResume(c, dial(t, s)); !errors.Is(err, rawclient.ErrExpired) {
			t.Errorf("resume: %v", err)
		}
	})
}

func TestInjectDelay(t *testing.T) {
	inBubble(t, func(t *testing.T, s *curatortest.Server) {
		c, other := connect(t, dial(t, s)), connect(t, dial(t, s))
		watchFor(t, c, "/b")
		s.Inject(curatortest.Rule{Op: "create", Path: "/a", Do: curatortest.Delay(3 * time.Second)})
		start := time.Now()
		if _, err := c.Send(jute.OpCreate, create("/a", 0)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		do(t, other, jute.OpExists, read("/a")) // it is done at once
		do(t, other, jute.OpCreate, create("/b", 0))
		if waited := time.Since(start); waited != 0 {
			t.Errorf("another connection waited for %v", waited)
		}
		f, err := c.Receive()
		if waited := time.Since(start); err != nil || f.Xid == jute.XidNotification || waited != 3*time.Second {
			t.Errorf("%v, %v after %v", f, err, waited)
		}
		if f, err := c.Receive(); err != nil || f.Xid != jute.XidNotification {
			t.Errorf("the event behind the answer: %v, %v", f, err)
		}
		do(t, c, jute.OpPing, nil)
		if waited := time.Since(start); waited != 3*time.Second {
			t.Errorf("later requests waited until %v", waited)
		}
	})
}

// TestInjectMatches injects rules that match a request, and rules that do not.
func TestInjectMatches(t *testing.T) {
	fail := curatortest.Fail(codedError(jute.CodeAPIError))
	multi := func(bodies ...*jute.CreateRequest) rawclient.Raw {
		var b []byte
		for _, body := range bodies {
			b = body.Append((&jute.MultiHeader{Type: jute.OpCreate}).Append(b))
		}
		return (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(b)
	}
	for name, test := range map[string]struct {
		rule curatortest.Rule
		op   jute.Op
		body rawclient.Body
		want bool
	}{
		"any":                        {curatortest.Rule{}, jute.OpExists, read("/a"), true},
		"any but ping":               {curatortest.Rule{}, jute.OpPing, nil, false},
		"ping":                       {curatortest.Rule{Op: "ping"}, jute.OpPing, nil, true},
		"another operation":          {curatortest.Rule{Op: "getData"}, jute.OpExists, read("/a"), false},
		"later form":                 {curatortest.Rule{Op: "getChildren"}, jute.OpGetChildren2, read("/a"), true},
		"only the later form":        {curatortest.Rule{Op: "getChildren2"}, jute.OpGetChildren, read("/a"), false},
		"path":                       {curatortest.Rule{Path: "/a"}, jute.OpExists, read("/a"), true},
		"another path":               {curatortest.Rule{Path: "/a"}, jute.OpExists, read("/a/b"), false},
		"below":                      {curatortest.Rule{Path: "/a/**"}, jute.OpExists, read("/a/b/c"), true},
		"below but itself":           {curatortest.Rule{Path: "/a/**"}, jute.OpExists, read("/a"), false},
		"below but beside":           {curatortest.Rule{Path: "/a/**"}, jute.OpExists, read("/ab"), false},
		"below everything":           {curatortest.Rule{Path: "/**"}, jute.OpExists, read("/a"), true},
		"path of a request without":  {curatortest.Rule{Path: "/**"}, jute.OpWhoAmI, nil, false},
		"multi":                      {curatortest.Rule{Path: "/b"}, jute.OpMulti, multi(create("/a", 0), create("/b", 0)), true},
		"multi of others":            {curatortest.Rule{Path: "/c"}, jute.OpMulti, multi(create("/a", 0), create("/b", 0)), false},
		"another session":            {curatortest.Rule{SessionID: 1}, jute.OpExists, read("/a"), false},
		"sequential without numbers": {curatortest.Rule{Op: "create", Path: "/s-"}, jute.OpCreate, create("/s-", jute.FlagSequential), true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *curatortest.Server) {
				c := connect(t, dial(t, s))
				test.rule.Do = fail
				hit := s.Inject(test.rule)
				f, err := c.Do(test.op, test.body)
				if err != nil || hit() != test.want || (f.Err == jute.CodeAPIError) != test.want {
					t.Errorf("hit %t, code %d, %v", hit(), f.Err, err)
				}
			})
		})
	}
}
