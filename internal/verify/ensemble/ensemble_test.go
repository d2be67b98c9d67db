package ensemble

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/verify/ensemble/verdict"
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

// Each row is the measurements of some pairs, and what the run's error says of them: nothing if the run
// is a success.
func TestVerdict(t *testing.T) {
	const ms = time.Millisecond
	at := func(scenario, policy string, ended, acquired time.Duration) verdict.Pair {
		return verdict.Pair{
			Case:  verdict.Case{Scenario: scenario, Policy: policy, Timeout: 10 * time.Second},
			Fault: 1000 * ms, Ended: ended, Acquired: acquired, Watched: 5000 * ms, Error: 20 * ms,
		}
	}
	handed := at("A", "session", 3000*ms, 3400*ms)
	overlap := at("A", "session", 3400*ms, 3000*ms)
	doubtful := at("A", "session", 3020*ms, 3000*ms)
	lost := at("A", "session", 3000*ms, 0)
	early := at("A", "session", 500*ms, 2000*ms)
	kept := at("A", "session", 0, 0)
	const (
		both    = "both clients believed"
		silent  = "these pairs show nothing"
		nothing = "nothing is shown"
		missed  = "no overlap was found"
	)
	for name, tt := range map[string]struct {
		rule  rule
		pairs []verdict.Pair
		want  []string // one for each line of the error
	}{
		"handed over":                  {beatRule, []verdict.Pair{handed, handed}, nil},
		"an overlap":                   {beatRule, []verdict.Pair{handed, overlap}, []string{"in 1 pairs " + both}},
		"a doubtful overlap":           {beatRule, []verdict.Pair{handed, doubtful}, []string{"in 1 of them not for longer"}},
		"an overlap before the fault":  {beatRule, []verdict.Pair{handed, at("A", "session", 500*ms, 400*ms)}, []string{both}},
		"an overlap in another row":    {beatRule, []verdict.Pair{handed, at("C", "standard", 3400*ms, 3000*ms)}, []string{both}},
		"some that ended early":        {beatRule, []verdict.Pair{early, handed}, nil},
		"all ended early":              {beatRule, []verdict.Pair{early, early}, []string{nothing}},
		"no pair":                      {beatRule, nil, []string{nothing}},
		"lost, and never granted":      {beatRule, []verdict.Pair{lost, kept}, []string{"A, session, T = 10s: "}},
		"a row of two is silent":       {beatRule, []verdict.Pair{handed, at("C", "standard", 3000*ms, 0)}, []string{"C, standard, T = 10s: "}},
		"an overlap and a silent row":  {beatRule, []verdict.Pair{overlap, at("C", "standard", 3000*ms, 0)}, []string{both, silent}},
		"all leases kept":              {beatRule, []verdict.Pair{handed, at("C", "session", 0, 0)}, nil},
		"kept, as K must":              {beatRule, []verdict.Pair{at("K", "session", 0, 0)}, nil},
		"kept, as L must":              {beatRule, []verdict.Pair{at("L", "session", 0, 0)}, nil},
		"lost by K":                    {beatRule, []verdict.Pair{at("K", "session", 0, 0), at("K", "session", 3000*ms, 0)}, []string{"K, T = 10s: 1 leases were lost"}},
		"lost by L":                    {beatRule, []verdict.Pair{at("L", "session", 3000*ms, 0), at("L", "session", 3000*ms, 3400*ms)}, []string{"L, T = 10s: 2 leases were lost"}},
		"an overlap in L":              {beatRule, []verdict.Pair{at("L", "session", 3400*ms, 3000*ms)}, []string{both}},
		"L under the standard policy":  {beatRule, []verdict.Pair{at("L", "standard", 3000*ms, 0)}, nil},
		"the wrong rule is found":      {answersRule, []verdict.Pair{handed, overlap, doubtful}, nil},
		"it is not":                    {answersRule, []verdict.Pair{handed, lost, kept}, []string{missed}},
		"it is, but that is doubtful":  {answersRule, []verdict.Pair{handed, doubtful, doubtful}, []string{missed}},
		"nothing is run by it":         {answersRule, nil, []string{missed}},
		"it is, and leases of L, lost": {answersRule, []verdict.Pair{overlap, at("L", "session", 3000*ms, 0)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c := Config{Policies: []string{"session", "standard"}, Timeouts: []time.Duration{10 * time.Second}, Pairs: 1, Rounds: 1, Scale: 1, Ensembles: 1, Rule: string(tt.rule)}
			o, err := c.options()
			if err != nil {
				t.Fatal(err)
			}
			p := newProof(o, io.Discard)
			for _, pair := range tt.pairs { // as if each were of a round of its own
				p.reports = append(p.reports, report{pairs: []verdict.Pair{pair}})
			}
			var lines []string
			if err := p.verdict(); err != nil {
				lines = strings.Split(err.Error(), "\n")
			}
			if !slices.EqualFunc(lines, tt.want, strings.Contains) {
				t.Errorf("got %q, want %q", lines, tt.want)
			}
		})
	}
}
