package load

import (
	"io"
	"testing"
	"time"
)

// What cannot be measured is refused before a server is started.
func TestMisuse(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"no client":        func(c *Config) { c.Clients = 0 },
		"no server":        func(c *Config) { c.Servers = 0 },
		"no timeout":       func(c *Config) { c.Timeouts = nil },
		"no way to prove":  func(c *Config) { c.Proofs = nil },
		"an unknown proof": func(c *Config) { c.Proofs = []string{"ping"} },
		"a window below 0": func(c *Config) { c.Window = -1 },
	} {
		c := Config{Clients: 1, Servers: 1, Timeouts: []time.Duration{4 * time.Second}, Proofs: []string{"sync"}}
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		want := c.check()
		if err := Run(t.Context(), c, io.Discard); want == nil || err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
