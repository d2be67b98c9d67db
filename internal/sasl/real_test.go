package sasl_test

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/sasl"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// users are those of the real servers, with names and passwords of each kind that the
// mechanism treats differently.
var users = map[string]string{
	"orders":     `sec"ret\ ,=`,
	"bestellung": "straße",   // in ISO 8859-1
	"müller":     "geheim",   // a name that is
	"ωmega":      "κωδικός",  // not in ISO 8859-1
	"mixed":      "é and π€", // neither
}

// open opens a session, whose connection ends after a while whatever happens.
func open(t *testing.T, real *curatortest.Ensemble) *rawclient.Client {
	t.Helper()
	return resume(t, real, jute.ConnectResponse{})
}

// resume moves a session to a new connection.
func resume(t *testing.T, real *curatortest.Ensemble, session jute.ConnectResponse) *rawclient.Client {
	t.Helper()
	conn, err := net.Dial("tcp", real.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	c, err := rawclient.Connect(conn, jute.ConnectRequest{
		TimeOut: 10000, SessionID: session.SessionID, Passwd: session.Passwd,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// authenticate does the exchange and returns the error code of the server's last reply.
func authenticate(t *testing.T, c *rawclient.Client, d *sasl.Digest) (code jute.Code) {
	t.Helper()
	var challenge []byte
	for {
		answer, done, err := d.Next(t.Context(), challenge)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			return code
		}
		f, err := c.Do(jute.OpSASL, rawclient.Raw(jute.AppendBuffer(nil, answer)))
		if err != nil {
			t.Fatal(err)
		}
		if f.Err != jute.CodeOK {
			return f.Err
		}
		challenge = jute.NewDecoder(f.Body).Buffer()
	}
}

func begin(t *testing.T, user, password string) *sasl.Digest {
	t.Helper()
	start, err := sasl.DigestMD5(user, password)
	if err != nil {
		t.Fatal(err)
	}
	return start()
}

// onlyFor is an ACL that lets one user do everything.
func onlyFor(user string) []jute.ACL {
	return []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "sasl", ID: user}}}
}

// refused checks what a server does with a client that it has refused: it ends the connection
// and sends nothing more, and the session lives on.
func refused(t *testing.T, real *curatortest.Ensemble, c *rawclient.Client) {
	t.Helper()
	if f, err := c.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection goes on: %+v, %v", f, err)
	}
	resume(t, real, c.Session)
}

// TestRealServer authenticates with servers that want it and with ones that insist on it.
func TestRealServer(t *testing.T) {
	for _, server := range []struct {
		name    string
		opts    []curatortest.Option
		refusal jute.Code // of a wrong password
		without jute.Code // for a request of a client that has not authenticated
	}{
		{"offered", nil, jute.CodeAuthFailed, jute.CodeOK},
		{"required", []curatortest.Option{curatortest.WithSASLRequired()}, jute.CodeSessionClosedRequireSASLAuth, jute.CodeSessionClosedRequireSASLAuth},
	} {
		t.Run(server.name, func(t *testing.T) {
			real := curatortest.Real(t, append(server.opts, curatortest.WithSASL(users))...)
			for user, password := range users {
				t.Run(user, func(t *testing.T) {
					c := open(t, real)
					if code := authenticate(t, c, begin(t, user, password)); code != jute.CodeOK {
						t.Fatalf("code %d", code)
					}
					f, err := c.Do(jute.OpCreate, &jute.CreateRequest{Path: "/" + user, ACL: onlyFor(user)})
					if err != nil || f.Err != jute.CodeOK {
						t.Fatalf("create: %v, code %d", err, f.Err)
					}
					if f, err := c.Do(jute.OpGetData, &jute.PathWatchRequest{Path: "/" + user}); err != nil || f.Err != jute.CodeOK {
						t.Errorf("getData: %v, code %d", err, f.Err)
					}
				})
			}
			for name, d := range map[string]*sasl.Digest{
				"wrong password": begin(t, "orders", "wrong"),
				"no such user":   begin(t, "nobody", "secret"),
			} {
				t.Run(name, func(t *testing.T) {
					c := open(t, real)
					if code := authenticate(t, c, d); code != server.refusal {
						t.Errorf("code %d, want %d", code, server.refusal)
					}
					refused(t, real, c)
				})
			}
			t.Run("without", func(t *testing.T) {
				c := open(t, real)
				f, err := c.Do(jute.OpExists, &jute.PathWatchRequest{Path: "/"})
				if err != nil || f.Err != server.without {
					t.Fatalf("exists: %v, code %d, want %d", err, f.Err, server.without)
				}
				if f.Err != jute.CodeOK {
					refused(t, real, c)
				}
			})
		})
	}
}

// TestServerWithoutSASL authenticates with a server that has no users. It must not pass for
// having done so.
func TestServerWithoutSASL(t *testing.T) {
	c := open(t, curatortest.Real(t))
	d := begin(t, "orders", "secret")
	answer, _, err := d.Next(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := c.Do(jute.OpSASL, rawclient.Raw(jute.AppendBuffer(nil, answer)))
	if err != nil || f.Err != jute.CodeOK {
		t.Fatalf("error %v, code %d", err, f.Err)
	}
	_, done, err := d.Next(t.Context(), jute.NewDecoder(f.Body).Buffer())
	if done || !errors.Is(err, sasl.ErrChallenge) || !strings.Contains(err.Error(), "not set up for SASL") {
		t.Errorf("done %t, error %v", done, err)
	}
}
