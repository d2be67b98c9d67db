package sasl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/sasl"
)

// good are challenges that are answered, bad ones that are not, with why.
var (
	good = map[string]string{
		"as ZooKeeper's":        ofZooKeeper,
		"with protection":       `nonce="n",qop="auth-int,auth",algorithm=md5-sess,maxbuf=65536,cipher="rc4",stale=true`,
		"space and no elements": " ,, NONCE = \"n\"\t,\r\n algorithm= md5-sess ,",
		"what is unknown":       `nonce="n",algorithm=md5-sess,later=1,later="2"`,
		"UTF-8":                 `realm="königreich",nonce="n",charset=UTF-8,algorithm=md5-sess`,
	}
	bad = []struct{ challenge, why string }{
		{"", "not set up for SASL"},
		{",", "no nonce"},
		{`realm="r",algorithm=md5-sess`, "no nonce"},
		{`nonce="",algorithm=md5-sess`, "no nonce"},
		{`nonce="n"`, "algorithm"},
		{`nonce="n",algorithm=md5`, "algorithm"},
		{`nonce="n",nonce="m",algorithm=md5-sess`, "nonce is there twice"},
		{`nonce="n",algorithm=md5-sess,algorithm=md5-sess`, "algorithm is there twice"},
		{`nonce="n",algorithm=md5-sess,qop="auth-int,auth-conf"`, "qop"},
		{`nonce="n",algorithm=md5-sess,charset=latin1`, "charset"},
		{"realm=\"\xff\",nonce=\"n\",algorithm=md5-sess,charset=utf-8", "the realm is not UTF-8"},
		{`nonce="n" algorithm=md5-sess`, `no comma after "nonce"`},
		{`nonce`, "no name=value"},
		{`="n"`, "no name=value"},
		{"nonce\x00=1", "no name=value"},
		{`nonce=`, `no value of "nonce"`},
		{`nonce="n`, "no quote at the end"},
		{`nonce="n\`, "nothing after the backslash"},
		{"nonce=\"n\x00\"", "a zero byte"},
		{"nonce=\"" + strings.Repeat("n", 2048) + "\"", "bytes"},
	}
)

func TestChallenges(t *testing.T) {
	for name, challenge := range good {
		if _, err := answered(t, begin(t, "orders", "secret"), challenge); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range bad {
		answer, err := answered(t, begin(t, "orders", "secret"), c.challenge)
		if answer != "" || !errors.Is(err, sasl.ErrChallenge) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.60q: answer %q, error %v, want %s", c.challenge, answer, err, c.why)
		}
	}
}

// FuzzChallenge answers anything: with an error of the challenge, or with a response that is
// a list of directives itself, with the server's nonce and realm as they were.
func FuzzChallenge(f *testing.F) {
	for _, challenge := range good {
		f.Add([]byte(challenge))
	}
	for _, c := range bad {
		f.Add([]byte(c.challenge))
	}
	start, err := sasl.DigestMD5(`orders"\ü`, "secret")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, challenge []byte) {
		answer, err := answered(t, start(), string(challenge))
		if err != nil {
			if answer != "" || !errors.Is(err, sasl.ErrChallenge) || len(err.Error()) > 400 {
				t.Fatalf("answer %q, error %v", answer, err)
			}
			return
		}
		want, err := sasl.Directives(challenge)
		if err != nil {
			t.Fatalf("answered what is no list: %v", err)
		}
		got, err := sasl.Directives([]byte(answer))
		if err != nil {
			t.Fatalf("the answer %q: %v", answer, err)
		}
		for _, name := range []string{"nonce", "realm"} {
			if got[name] != want[name] {
				t.Errorf("%s %q is answered with %q", name, want[name], got[name])
			}
		}
		if len(got["response"]) != 32 || got["qop"] != "auth" || got["nc"] != "00000001" {
			t.Errorf("the answer %q", answer)
		}
	})
}
