package sasl

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrChallenge is matched by the error about a challenge that is not one of DIGEST-MD5, or that demands
// a feature that this package does not have.
var ErrChallenge = errors.New("invalid DIGEST-MD5 challenge")

// directive is a name, in lower case, and a value without its quotes.
type directive struct{ name, value string }

// challenge is what a server asks at first.
type challenge struct {
	realm    string // the first one that it offers
	hasRealm bool
	nonce    string
	utf8     bool // names and passwords are UTF-8, else ISO 8859-1
}

// parseChallenge reads a server's first challenge. It ignores unknown directives, as RFC 2831 demands.
// Known ones must not occur more often than RFC 2831 permits.
func parseChallenge(b []byte) (challenge, error) {
	var c challenge
	if len(b) == 0 {
		// What a server answers that has no users.
		return c, fmt.Errorf("%w: it is empty; the server is not set up for SASL", ErrChallenge)
	}
	directives, err := parseDirectives(b)
	if err != nil {
		return c, err
	}
	values := map[string]string{}
	for _, d := range directives {
		switch d.name {
		case "realm":
			if !c.hasRealm {
				c.realm, c.hasRealm = d.value, true
			}
		case "nonce", "qop", "charset", "algorithm", "maxbuf", "stale":
			if _, twice := values[d.name]; twice {
				return c, fmt.Errorf("%w: %s is there twice", ErrChallenge, d.name)
			}
			values[d.name] = d.value
		}
	}
	if c.nonce = values["nonce"]; c.nonce == "" {
		return c, fmt.Errorf("%w: no nonce", ErrChallenge)
	}
	if algorithm := values["algorithm"]; algorithm != "md5-sess" {
		return c, fmt.Errorf("%w: algorithm %.40q, want md5-sess", ErrChallenge, algorithm)
	}
	if qop, there := values["qop"]; there && !offersAuth(qop) {
		return c, fmt.Errorf("%w: qop %.40q, want auth", ErrChallenge, qop)
	}
	if charset, there := values["charset"]; there {
		if !strings.EqualFold(charset, "utf-8") {
			return c, fmt.Errorf("%w: charset %.40q, want utf-8", ErrChallenge, charset)
		}
		c.utf8 = true
		if !utf8.ValidString(c.realm) {
			return c, fmt.Errorf("%w: the realm is not UTF-8", ErrChallenge)
		}
	}
	return c, nil
}

// offersAuth tells whether authentication alone is among the kinds of protection offered.
func offersAuth(qop string) bool {
	for kind := range strings.SplitSeq(qop, ",") {
		if strings.EqualFold(strings.Trim(kind, " \t\r\n"), "auth") {
			return true
		}
	}
	return false
}

// parseDirectives reads a list of name=value or name="value", with commas between them. An
// element may be empty, and may have white space around it, as in the lists of HTTP, which
// RFC 2831 takes its syntax from.
func parseDirectives(b []byte) ([]directive, error) {
	var directives []directive
	rest := string(b)
	for {
		rest = skipSpace(rest)
		if rest == "" {
			return directives, nil
		}
		if rest[0] == ',' {
			rest = rest[1:]
			continue
		}
		d, after, err := parseDirective(rest)
		if err != nil {
			return nil, err
		}
		directives = append(directives, d)
		rest = skipSpace(after)
		if rest != "" && rest[0] != ',' {
			return nil, fmt.Errorf("%w: no comma after %.40q", ErrChallenge, d.name)
		}
	}
}

func parseDirective(s string) (d directive, rest string, err error) {
	name, rest := cutToken(s)
	rest = skipSpace(rest)
	if name == "" || !strings.HasPrefix(rest, "=") {
		return d, "", fmt.Errorf("%w: no name=value at %.40q", ErrChallenge, s)
	}
	d.name = strings.ToLower(name)
	rest = skipSpace(rest[1:])
	if strings.HasPrefix(rest, `"`) {
		d.value, rest, err = unquote(rest)
		if err != nil {
			return d, "", fmt.Errorf("%w of %.40q", err, d.name)
		}
		return d, rest, nil
	}
	if d.value, rest = cutToken(rest); d.value == "" {
		return d, "", fmt.Errorf("%w: no value of %.40q", ErrChallenge, d.name)
	}
	return d, rest, nil
}

// unquote reads a quoted string, in which a backslash stands before a character that is
// meant as it is, and returns the rest after it.
func unquote(s string) (value, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], nil
		case '\\':
			i++
			if i == len(s) {
				return "", "", fmt.Errorf("%w: nothing after the backslash", ErrChallenge)
			}
		case 0:
			return "", "", fmt.Errorf("%w: a zero byte in the value", ErrChallenge)
		}
		b.WriteByte(s[i])
	}
	return "", "", fmt.Errorf("%w: no quote at the end", ErrChallenge)
}

// quote writes a quoted string that unquote reads.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// cutToken splits off the token that s begins with.
func cutToken(s string) (token, rest string) {
	i := 0
	for i < len(s) && s[i] > ' ' && s[i] < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, rune(s[i])) {
		i++
	}
	return s[:i], s[i:]
}

// skipSpace drops the white space that s begins with.
func skipSpace(s string) string { return strings.TrimLeft(s, " \t\r\n") }
