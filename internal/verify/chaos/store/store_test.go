package store_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/verify/chaos/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The client that has shown the highest token reads and writes; others are refused.
func TestFence(t *testing.T) {
	server, err := store.New()
	if err != nil {
		t.Fatal(err)
	}
	var clients []*store.Client
	for range 2 {
		c, err := store.Dial(t.Context(), server.Address())
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, c)
	}
	old, next := clients[0], clients[1]
	claim := func(c *store.Client, token int64, want string, refused bool) {
		t.Helper()
		if text, err := c.Claim("key", token); text != want || errors.Is(err, store.ErrFenced) != refused {
			t.Errorf("claim with %d: %q, %v", token, text, err)
		}
	}
	write := func(c *store.Client, token int64, text string, refused bool) {
		t.Helper()
		if err := c.Write("key", token, text); errors.Is(err, store.ErrFenced) != refused {
			t.Errorf("write with %d: %v", token, err)
		}
	}
	write(old, 5, "unclaimed", true)
	claim(old, 5, "", false)
	write(old, 5, "a", false)
	claim(old, 5, "a", false) // the holder comes back
	claim(next, 6, "a", false)
	write(old, 5, "late", true)
	claim(old, 5, "", true)
	write(next, 6, "b", false)
	claim(next, -1, "", true)
	if texts := server.Texts(); len(texts) != 1 || texts["key"] != "b" {
		t.Errorf("texts: %v", texts)
	}
	for _, c := range clients {
		c.Close()
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}
