package curatorcertmagic_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	curatorcertmagic "github.com/go-curator/curator/recipes/adapters/certmagic"
)

// All nodes that a storage creates have the ACL of WithACL.
func TestACL(t *testing.T) {
	suite.Each(t, func(t *testing.T, b *suite.Backend) {
		client, _ := b.Client(t, framework.WithAuthorization("digest", []byte("web:secret")))
		want := []framework.ACL{framework.DigestACL("web", "secret")}
		storage, err := curatorcertmagic.NewStorage(client, b.Path("certmagic"), curatorcertmagic.WithACL(want...))
		if err != nil {
			t.Fatal(err)
		}
		if err := storage.Store(t.Context(), "acme/site/site.key", []byte("secret")); err != nil {
			t.Fatal(err)
		}
		if err := storage.Lock(t.Context(), "issue"); err != nil {
			t.Fatal(err)
		}
		for _, node := range []string{"", "/keys", "/keys/acme", "/keys/acme/site", "/keys/acme/site/site.key=", "/locks", "/locks/issue"} {
			got, err := client.GetACL().ForPath(t.Context(), b.Path("certmagic")+node)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("ACL of %q: %v, %v; want %v", node, got, err, want)
			}
		}
		if err := storage.Unlock(t.Context(), "issue"); err != nil {
			t.Error(err)
		}
		stranger := newHost(t, b)
		if _, err := stranger.storage.Load(t.Context(), "acme/site/site.key"); !errors.Is(err, framework.ErrNoAuth) {
			t.Errorf("a client without credentials gets %v, want framework.ErrNoAuth", err)
		}
	})
}
