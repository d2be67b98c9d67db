package sasl_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/sasl"
)

// ofZooKeeper is a challenge as a server sends it.
const ofZooKeeper = `realm="zk-sasl-md5",nonce="TKhCj2J6J4JtO41I",charset=utf-8,algorithm=md5-sess`

// answered is a mechanism that has answered a challenge.
func answered(t *testing.T, d *sasl.Digest, challenge string) (answer string, err error) {
	t.Helper()
	if initial, done, err := d.Next(t.Context(), nil); initial == nil || len(initial) > 0 || done || err != nil {
		t.Fatalf("the initial response: %q, done %t, error %v", initial, done, err)
	}
	b, done, err := d.Next(t.Context(), []byte(challenge))
	if done {
		t.Error("done before the server's proof")
	}
	return string(b), err
}

// TestVectors has the exchanges of RFC 2831, section 4, and one with ZooKeeper.
func TestVectors(t *testing.T) {
	for name, c := range map[string]struct {
		user, password, challenge, cnonce, uri string
		want, proof                            string
	}{
		"IMAP": {
			"chris", "secret",
			`realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",qop="auth",algorithm=md5-sess,charset=utf-8`,
			"OA6MHXh6VqTrRk", "imap/elwood.innosoft.com",
			`charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA6MG9tEQGm2hh",nc=00000001,` +
				`cnonce="OA6MHXh6VqTrRk",digest-uri="imap/elwood.innosoft.com",` +
				`response=d388dad90d4bbd760a152321f2143af7,qop=auth`,
			"rspauth=ea40f60335c427b5527b84dbabcdfffd",
		},
		"ACAP": {
			"chris", "secret",
			`realm="elwood.innosoft.com",nonce="OA9BSXrbuRhWay",qop="auth",algorithm=md5-sess,charset=utf-8`,
			"OA9BSuZWMSpW8m", "acap/elwood.innosoft.com",
			`charset=utf-8,username="chris",realm="elwood.innosoft.com",nonce="OA9BSXrbuRhWay",nc=00000001,` +
				`cnonce="OA9BSuZWMSpW8m",digest-uri="acap/elwood.innosoft.com",` +
				`response=6084c6db3fede7352c551284490fd0fc,qop=auth`,
			"rspauth=2f0b3d7c3c2e486600ef710726aa2eae",
		},
		"ZooKeeper, and a password with all kinds of characters": {
			"ωmega", "κωδικός",
			`realm="zk-sasl-md5",nonce="TKhCj2J6J4JtO41Inr/yahFj9+BrEiHGVpKdjkEz",charset=utf-8,algorithm=md5-sess`,
			"CUZEURZNPOIWEKRS36PPH37Z4T", "zookeeper/zk-sasl-md5",
			`charset=utf-8,username="ωmega",realm="zk-sasl-md5",nonce="TKhCj2J6J4JtO41Inr/yahFj9+BrEiHGVpKdjkEz",` +
				`nc=00000001,cnonce="CUZEURZNPOIWEKRS36PPH37Z4T",digest-uri="zookeeper/zk-sasl-md5",` +
				`response=e3ea1d0e5cad0f363ca3437c6c134401,qop=auth`,
			"rspauth=c9584eba10d727a11c8935b4aabc0a07",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := begin(t, c.user, c.password).WithVector(c.cnonce, c.uri)
			if answer, err := answered(t, d, c.challenge); answer != c.want || err != nil {
				t.Fatalf("answer %s, error %v, want\n%s", answer, err, c.want)
			}
			if answer, done, err := d.Next(t.Context(), []byte(c.proof)); answer != nil || !done || err != nil {
				t.Errorf("after the proof: %q, done %t, error %v", answer, done, err)
			}
			if _, done, err := d.Next(t.Context(), nil); done || !errors.Is(err, sasl.ErrOver) {
				t.Errorf("after the end: done %t, error %v", done, err)
			}
		})
	}
}

// TestResponses looks at what of the response depends on the challenge.
func TestResponses(t *testing.T) {
	for name, c := range map[string]struct {
		user, password, challenge string
		want                      string // in the answer; or in the error, if it is an error's
		err                       error
	}{
		"quotes":             {`a"\b`, "secret", ofZooKeeper, `,username="a\"\\b",`, nil},
		"quotes of a server": {"a", "b", `realm="r\"\\",nonce="\n\"",algorithm=md5-sess`, `,realm="r\"\\",nonce="n\"",`, nil},
		"no realm":           {"a", "b", `nonce="n",algorithm=md5-sess`, `username="a",nonce="n",`, nil},
		"the first of two":   {"a", "b", `realm="x",realm="y",nonce="n",algorithm=md5-sess`, `,realm="x",nonce=`, nil},
		"ISO 8859-1":         {"é", "ß", `nonce="n",algorithm=md5-sess`, "username=\"\xe9\",", nil},
		"user needs UTF-8":   {"ω", "b", `nonce="n",algorithm=md5-sess`, "charset", sasl.ErrChallenge},
		"password needs it":  {"a", "ω", `nonce="n",algorithm=md5-sess`, "charset", sasl.ErrChallenge},
		"a long user":        {strings.Repeat("a", 4096), "b", ofZooKeeper, "bytes", sasl.ErrChallenge},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := answered(t, begin(t, c.user, c.password), c.challenge)
			if err != nil {
				got = err.Error()
			}
			if !errors.Is(err, c.err) || !strings.Contains(got, c.want) {
				t.Errorf("answer or error %q, want %q in it, and error %v", got, c.want, c.err)
			}
		})
	}
}

// TestNoncesDiffer begins two authentications by one user.
func TestNoncesDiffer(t *testing.T) {
	start, err := sasl.DigestMD5("orders", "secret")
	if err != nil {
		t.Fatal(err)
	}
	first, err := answered(t, start(), ofZooKeeper)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := answered(t, start(), ofZooKeeper); err != nil || first == second {
		t.Errorf("error %v, both times %s", err, first)
	}
}

// TestServersProof has a server answer the response with what proves nothing.
func TestServersProof(t *testing.T) {
	right := "rspauth=c9584eba10d727a11c8935b4aabc0a07"
	for name, c := range map[string]struct {
		proof string
		err   error
	}{
		"another's":   {"rspauth=ea40f60335c427b5527b84dbabcdfffd", sasl.ErrServer},
		"a part":      {"rspauth=c9584eba10d727a11c8935b4aabc0a0", sasl.ErrServer},
		"none":        {"", sasl.ErrServer},
		"another key": {"auth=c9584eba10d727a11c8935b4aabc0a07", sasl.ErrServer},
		"two":         {right + "," + right, sasl.ErrServer},
		"garbage":     {right + `="`, sasl.ErrChallenge},
	} {
		t.Run(name, func(t *testing.T) {
			d := begin(t, "ωmega", "κωδικός").WithVector("CUZEURZNPOIWEKRS36PPH37Z4T", "zookeeper/zk-sasl-md5")
			challenge := `realm="zk-sasl-md5",nonce="TKhCj2J6J4JtO41Inr/yahFj9+BrEiHGVpKdjkEz",charset=utf-8,algorithm=md5-sess`
			if _, err := answered(t, d, challenge); err != nil {
				t.Fatal(err)
			}
			if _, done, err := d.Next(t.Context(), []byte(c.proof)); done || !errors.Is(err, c.err) {
				t.Errorf("done %t, error %v, want %v", done, err, c.err)
			}
			if _, done, err := d.Next(t.Context(), []byte(right)); done || !errors.Is(err, sasl.ErrOver) {
				t.Errorf("after an error: done %t, error %v", done, err)
			}
		})
	}
}

func TestNextEndsEarly(t *testing.T) {
	d := begin(t, "orders", "secret")
	if _, _, err := d.Next(t.Context(), []byte(ofZooKeeper)); !errors.Is(err, sasl.ErrChallenge) {
		t.Errorf("a challenge before it was asked for: %v", err)
	}
	reason := errors.New("the connection has ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, _, err := begin(t, "orders", "secret").Next(ctx, nil); !errors.Is(err, reason) {
		t.Errorf("an ended context: %v", err)
	}
}

func TestUsersThatMakeNoSense(t *testing.T) {
	for _, c := range []struct{ user, password, want string }{
		{"", "sesame", "the user is empty"},
		{"orders", "", "the password is empty"},
		{"\xff", "sesame", "the user is not UTF-8"},
		{"orders", "sesame\xff", "the password is not UTF-8"},
		{"or\nders", "sesame", "the user has control characters"},
		{"orders", "sesame\x00", "the password has control characters"},
	} {
		_, err := sasl.DigestMD5(c.user, c.password)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}

// TestPasswordIsSecret formats and logs a mechanism in every way, and looks for the password and for
// what stands for it, in text, in hexadecimal and in bytes.
func TestPasswordIsSecret(t *testing.T) {
	start, err := sasl.DigestMD5("orders", "sesame")
	if err != nil {
		t.Fatal(err)
	}
	const cnonce = "CUZEURZNPOIWEKRS36PPH37Z4T"
	d := start().WithVector(cnonce, "zookeeper/zk-sasl-md5")
	if _, err := answered(t, d, ofZooKeeper); err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("client", "mechanism", d, "value", *d)
	texts := []string{logged.String(), d.String(), d.GoString()}
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, value := range []any{start, d, *d, struct{ mechanism sasl.Digest }{*d}, struct{ mechanism *sasl.Digest }{d}, []any{d}} {
			texts = append(texts, fmt.Sprintf(format, value))
		}
	}
	for _, text := range texts {
		for _, secret := range []string{"sesame", "736573616d65", "[115 101 115"} {
			if strings.Contains(strings.ToLower(text), secret) {
				t.Errorf("%s has %s", text, secret)
			}
		}
	}
	if d.Name() != "DIGEST-MD5" || fmt.Sprint(d) != d.Name() {
		t.Errorf("name %q, text %v", d.Name(), d)
	}
}
