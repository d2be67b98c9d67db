package ensemble

import (
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStalls(t *testing.T) {
	const ms = time.Millisecond
	s := stalls{{100 * ms, 150 * ms}, {152 * ms, 162 * ms}, {400 * ms, 500 * ms}}
	if s.worst() != 100*ms || stalls(nil).worst() != 0 {
		t.Errorf("worst: %v", s.worst())
	}
	for instant, want := range map[time.Duration]time.Duration{
		0:        0,
		50 * ms:  2 * ms,
		101 * ms: 2 * ms,
		140 * ms: 40 * ms,
		150 * ms: 50 * ms,
		155 * ms: 55 * ms,
		165 * ms: 13 * ms,
		200 * ms: 2 * ms,
	} {
		if got := s.at(instant); got != want {
			t.Errorf("at %v: %v late; want %v", instant, got, want)
		}
	}
}

func TestPlan(t *testing.T) {
	c := Config{
		Scenarios: []string{"L", "K", "HA"}, Timeouts: []time.Duration{10 * time.Second, 20 * time.Second}, Policies: []string{"standard"},
		Pairs: 6, Rounds: 2, Scale: 2, Ensembles: 1, Rule: "beat",
	}
	o, err := c.options()
	if err != nil {
		t.Fatal(err)
	}
	rounds := o.plan()
	var names []string
	for i, r := range rounds {
		names = append(names, r.scenario.name)
		shortest, most := r.timeout()
		if r.number != i+1 || shortest < 2*r.tick() || most > longest*r.tick() || len(r.newPairs()) != 6*len(r.timeouts) {
			t.Errorf("round %d: %+v", i, r)
		}
	}
	if got := strings.Join(names, " "); got != "L L HA L L HA K K" {
		t.Errorf("rounds: %s", got)
	}
	if k := rounds[6]; k.tick() != nominalTick {
		t.Errorf("full scale: a tick of %v", k.tick())
	}
}

// What runs nothing is refused, also if no flag was parsed.
func TestMisuse(t *testing.T) {
	for name, change := range map[string]func(c *Config){
		"no timeout":         func(c *Config) { c.Timeouts = nil },
		"no policy":          func(c *Config) { c.Policies = nil },
		"no pair":            func(c *Config) { c.Pairs = 0 },
		"no round":           func(c *Config) { c.Rounds = 0 },
		"no ensemble":        func(c *Config) { c.Ensembles = 0 },
		"an unknown rule":    func(c *Config) { c.Rule = "" },
		"an unknown fault":   func(c *Config) { c.Scenarios = []string{""} },
		"a timeout too long": func(c *Config) { c.Timeouts = []time.Duration{41 * time.Second} },
	} {
		c := Config{
			Timeouts: []time.Duration{10 * time.Second}, Policies: []string{"session"}, Pairs: 1, Rounds: 1, Scale: 1, Ensembles: 1, Rule: "beat",
		}
		if _, err := c.options(); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := c.options(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
