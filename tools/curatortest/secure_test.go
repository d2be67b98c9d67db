package curatortest_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/curatortest"
)

// TestSecureOptionsThatMakeNoSense has the embedded server, or a real one, refuse what it
// cannot do.
func TestSecureOptionsThatMakeNoSense(t *testing.T) {
	users := func(name, password string) curatortest.Option {
		return curatortest.WithSASL(map[string]string{name: password})
	}
	embedded := func(opt curatortest.Option) error {
		_, err := curatortest.New(opt)
		return err
	}
	real := func(opt curatortest.Option) error {
		_, err := curatortest.NewReal(1, opt)
		return err
	}
	for name, err := range map[string]error{
		"WithTLS: only real servers":           embedded(curatortest.WithTLS(curatortest.TLS{})),
		"WithSASL: only real servers":          embedded(users("orders", "secret")),
		"WithSASLRequired: only real servers":  embedded(curatortest.WithSASLRequired()),
		"WithReadOnlyMode: only real servers":  embedded(curatortest.WithReadOnlyMode()),
		"WithAdminServer: an embedded server":  embedded(curatortest.WithAdminServer()),
		"WithTLS: ZooKeeper has nothing like":  real(curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAnyClientCert})),
		"WithSASL: no users":                   real(curatortest.WithSASL(nil)),
		"WithSASL: the user":                   real(users("or ders", "secret")),
		"WithSASL: the password of orders is":  real(users("orders", "\n")),
		"WithSASL: the password of orders has": real(users("orders", "${user.home}")),
		"WithSASLRequired: there are no users": real(curatortest.WithSASLRequired()),
		"WithReadOnlyMode: a server that is":   real(curatortest.WithReadOnlyMode()),
	} {
		if !errors.Is(err, curatortest.ErrInvalidOption) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}
