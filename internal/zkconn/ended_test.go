package zkconn_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/internal/zkconn"
)

// connected returns the session of an open connection.
func (t *fixture) connected() int64 {
	t.Helper()
	session, err := t.conn.Connected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// The end of a session is certain when a server has said so, or has confirmed Close, and not else.
func TestSessionEnd(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(t *fixture, session int64)
		want    zkconn.SessionEnd
	}{
		"lives": {func(*fixture, int64) {}, zkconn.SessionMayLive},
		"closed": {func(t *fixture, _ int64) {
			if err := t.conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}, zkconn.SessionClosed},
		"expired": {func(t *fixture, session int64) {
			t.server.ExpireSession(session)
			synctest.Wait()
			if t.connected() == session {
				t.Error("the session lives")
			}
		}, zkconn.SessionExpired},
		"expired, and the next one closed": {func(t *fixture, session int64) {
			t.server.ExpireSession(session)
			synctest.Wait()
			next := t.connected()
			if err := t.conn.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if end := t.conn.SessionEnd(t.Context(), next, false); end != zkconn.SessionClosed {
				t.Errorf("the next session: %v", end)
			}
		}, zkconn.SessionExpired},
		"left by Close": {func(t *fixture, _ int64) {
			t.server.Pause()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := t.conn.Close(ctx); err == nil {
				t.Error("Close has closed the session")
			}
		}, zkconn.SessionMayLive},
		"presumed over": {func(t *fixture, session int64) {
			t.server.Refuse()
			t.server.Disconnect()
			time.Sleep(10 * timeout)
			if id, _ := t.conn.Session(); id != 0 {
				t.Errorf("the session is 0x%x", id)
			}
		}, zkconn.SessionMayLive},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *fixture) {
				t.open(nil)
				session := t.connected()
				c.happens(t, session)
				if end := t.conn.SessionEnd(t.Context(), session, false); end != c.want {
					t.Errorf("the end is %v, want %v", end, c.want)
				}
				if end := t.conn.SessionEnd(t.Context(), 0, false); end != zkconn.SessionMayLive {
					t.Errorf("the end of no session is %v", end)
				}
			})
		})
	}
}

// The answer waits for a Close that is under way, or will be, but not longer than its context.
func TestSessionEndWaitsForClose(t *testing.T) {
	virtual(t, func(t *fixture) {
		t.open(nil)
		session := t.connected()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if end := t.conn.SessionEnd(ctx, session, true); end != zkconn.SessionMayLive || time.Since(begin) != time.Second {
			t.Errorf("before Close: %v after %v", end, time.Since(begin))
		}
		resume := t.server.Pause()
		time.AfterFunc(500*time.Millisecond, resume)
		closed := make(chan error, 1)
		go func() { closed <- t.conn.Close(t.Context()) }()
		synctest.Wait()
		begin = time.Now()
		if end := t.conn.SessionEnd(t.Context(), session, false); end != zkconn.SessionClosed || time.Since(begin) != 500*time.Millisecond {
			t.Errorf("during Close: %v after %v", end, time.Since(begin))
		}
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}
