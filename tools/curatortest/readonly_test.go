package curatortest_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// handshake sends a connect request. content says whether the client accepts a read-only server, and
// readOnly whether the server is one.
func handshake(t *testing.T, address string, req jute.ConnectRequest, content bool) (c *rawclient.Client, readOnly bool, err error) {
	t.Helper()
	c = &rawclient.Client{Conn: dialTCP(t, address)}
	if err := c.Conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	req.TimeOut = 10000
	if err := c.WriteFrame(jute.AppendBool(req.Append(nil), content)); err != nil {
		t.Fatal(err)
	}
	frame, err := c.ReadFrame()
	if err != nil {
		return nil, false, err
	}
	d := jute.NewDecoder(frame)
	c.Session.Decode(d)
	readOnly = d.Bool()
	if d.Err() != nil || c.Session.TimeOut == 0 {
		t.Fatalf("answer %x: %v", frame, d.Err())
	}
	return c, readOnly, nil
}

// TestReadOnlyMode takes the quorum from a server, and checks which clients the server serves then.
func TestReadOnlyMode(t *testing.T) {
	t.Parallel()
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithReadOnlyMode(), curatortest.WithTickTime(200*time.Millisecond))
	before, readOnly, err := handshake(t, ensemble.Member(0).ConnectString(), jute.ConnectRequest{}, true)
	if err != nil || readOnly {
		t.Fatalf("with a quorum: read-only %t, error %v", readOnly, err)
	}
	do(t, before, jute.OpCreate, create("/a", jute.FlagEphemeral))
	ensemble.Member(1).Kill()
	ensemble.Member(2).Kill()
	ensemble.Member(0).AwaitReadOnly()

	address := ensemble.Member(0).ConnectString()
	if _, _, err := handshake(t, address, jute.ConnectRequest{}, false); !errors.Is(err, io.EOF) {
		t.Errorf("a client that has not asked for it: %v", err)
	}
	old := jute.ConnectRequest{SessionID: before.Session.SessionID, Passwd: before.Session.Passwd}
	if _, _, err := handshake(t, address, old, true); !errors.Is(err, io.EOF) {
		t.Errorf("a session of the quorum's: %v", err)
	}
	c, readOnly, err := handshake(t, address, jute.ConnectRequest{}, true)
	if err != nil || !readOnly {
		t.Fatalf("a new session: read-only %t, error %v", readOnly, err)
	}
	do(t, c, jute.OpGetData, read("/a"))
	for op, body := range map[jute.Op]rawclient.Body{jute.OpCreate: create("/b", 0), jute.OpSync: read("/a")} {
		if f, err := c.Do(op, body); err != nil || f.Err != jute.CodeNotReadOnly {
			t.Errorf("%s: %v, code %d", jute.OpName(op), err, f.Err)
		}
	}
}
