package curatortest_test

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/curatortest"
)

// TestSecureOptionsThatMakeNoSense passes options that the embedded server, or a real one, refuses.
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
		"WithTLS: only for real servers":            embedded(curatortest.WithTLS(curatortest.TLS{})),
		"WithSASL: only for real servers":           embedded(users("orders", "secret")),
		"WithSASLRequired: only for real servers":   embedded(curatortest.WithSASLRequired()),
		"WithReadOnlyMode: only for real servers":   embedded(curatortest.WithReadOnlyMode()),
		"WithAdminServer: an embedded server":       embedded(curatortest.WithAdminServer()),
		"WithTLS: ZooKeeper does not support":       real(curatortest.WithTLS(curatortest.TLS{ClientAuth: tls.RequireAnyClientCert})),
		"WithSASL: no users":                        real(curatortest.WithSASL(nil)),
		"WithSASL: the user":                        real(users("or ders", "secret")),
		"WithSASL: the password of orders is":       real(users("orders", "\n")),
		"WithSASL: the password of orders contains": real(users("orders", "${user.home}")),
		"WithSASLRequired: there are no users":      real(curatortest.WithSASLRequired()),
		"WithReadOnlyMode: a standalone server":     real(curatortest.WithReadOnlyMode()),
	} {
		if !errors.Is(err, curatortest.ErrInvalidOption) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}
