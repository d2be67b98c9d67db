package blocking_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// notHere are the exported functions with a context or an iterator that need no row, and why.
var notHere = []struct{ names, why string }{
	{`\) InBackground\b`, "returns at once; the outcome comes as that of the other terminal"},
	{`interface, | type `, "is implemented by the user, or by what has rows"},
	{`: func (With|New)\w+\(func|\) (Add|For\w+|Build)\(.*func\(|ListenerBuilder\) Build|: func WithRevocable`, "takes or returns a function"},
	{`\) (Context|Bind|IsOwnedBy)\(|: func Detach\(`, "does not wait"},
	{`\) (All|Children|Failed)\(.*iter\.Seq`, "goes through what is in memory"},
	{`^framework/(ensemble|listen):|^retry:|^tools/|: func Run\(`, "knows no client, or calls what has rows"},
	{`^framework: method \(\*Client\) (Start|Close)\(|WatcherRemovingView\) (Start|Close|AddAuth|BlockUntilConnected|ReadMany)\(`, "begins or ends the client, or is the client's"},
	{`ServiceDiscovery\) (Start|Unregister)\(`, "starts what has no work yet; ends what the client keeps"},
	{`func OnNode\(`, "is for the recipes of this module, and does not wait"},
	{`Message\) Guard\(`, "is locks.Lease.Guard"},
	{`\) (Close|Release)\(context\.Context\) error|PersistentNode\) Leave\(`, "is a clean-up, see TestCleanUp"},
}

// Every exported call that can wait has a row.
func TestComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := rows()
	seen := map[string]bool{}
	name := regexp.MustCompile(`^(\S+): (?:method|func) ((?:\([^)]*\) )?\w+)`)
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "context.Context") && !strings.Contains(line, "iter.Seq") || excused(line) {
			continue
		}
		m := name.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("%q is not understood", line)
			continue
		}
		key := m[1] + ": " + m[2]
		seen[key] = true
		if _, ok := all[key]; !ok {
			t.Errorf("%s can wait, and has no row", key)
		}
	}
	for key := range all {
		if !seen[key] && !strings.Contains(key, "recipes/locks: (") { // those are made for each kind of lock
			t.Errorf("%s has a row, and is not exported", key)
		}
	}
}

func excused(line string) bool {
	for _, n := range notHere {
		if regexp.MustCompile(n.names).MatchString(line) {
			return true
		}
	}
	return false
}
