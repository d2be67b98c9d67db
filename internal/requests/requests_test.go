package requests_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what is sent into testdata/requests.txt")

const tableFile = "testdata/requests.txt"

const header = `# The requests that each exported operation sends to the server. Written by: go test ./internal/requests -update
#
# A case has the name of the operation in docs/api.txt and, after a semicolon, what it meets. It has steps; below each
# step are the requests of the following 15 seconds: first those of the client, then those of other clients, which have
# a name. They are in the order in which they were sent. "+" marks a request that was sent at the same time as the one
# before it, and does not wait for its reply. In a step that is "(sorted)" several goroutines send at the same time: the
# requests of one moment are sorted, but for those of the session (sync /, auth, setWatches2) that are sent first.
#
# "connect" opens a session, "reconnect" resumes it. UUID stands for the id of a protected node and for other random
# ids, #7 for the number of a sequential node, TIME for a time. A version is the expected one; without a version
# every version will do. An ACL is left out if it allows everybody everything. Data and pings are left out.
`

// tableCase is an operation and what it meets.
type tableCase struct {
	op  string // its name in docs/api.txt
	row string
	run func(f *fixture)
}

func (c tableCase) name() string { return c.op + "; " + c.row }

func cases() []tableCase {
	return slices.Concat(
		createCases(), frameworkCases(), clientCases(), watchCases(), aclCases(),
		lockCases(), moreLockCases(), lockOptionCases(), leaderCases(),
		atomicCases(), barrierCases(), sharedCases(), migrationCases(),
		cacheCases(), readCacheCases(), modeledCases(), modelSpecCases(), cachedModelCases(),
		nodeCases(), queueCases(), discoveryCases(), registerCases(), queryCases(), providerCases(),
	)
}

// TestRequests compares the table with what is sent.
func TestRequests(t *testing.T) {
	table := readTable(t)
	var names []string
	for _, c := range cases() {
		if slices.Contains(names, c.name()) {
			t.Errorf("there are two cases %q", c.name())
		}
		names = append(names, c.name())
		t.Run(c.name(), func(t *testing.T) {
			sent := virtually(t, c.run)
			if *update {
				table[c.name()] = sent
			}
			if sent != table[c.name()] {
				// Once in some thousands of cases goroutines run in an order in which one request more or less is
				// sent. Of eight further runs, on a machine that is as busy, one more may be so.
				t.Logf("once was sent:\n%s", sent)
				other, others := "", 0
				for range 8 {
					if again := virtually(t, c.run); again != table[c.name()] {
						other, others = again, others+1
					}
				}
				if sent = table[c.name()]; others > 1 {
					sent = other
				}
			}
			if diff := cmp.Diff(strings.Split(table[c.name()], "\n"), strings.Split(sent, "\n")); diff != "" {
				t.Errorf("sent (-table +now):\n%s", diff)
			}
		})
	}
	if *update && !t.Failed() {
		writeTable(t, names, table)
	}
	for name := range table {
		if !*update && !slices.Contains(names, name) {
			t.Errorf("%q is in %s, and no case", name, tableFile)
		}
	}
}

// readTable returns the texts of the cases by their names.
func readTable(t *testing.T) map[string]string {
	t.Helper()
	table := map[string]string{}
	text, err := os.ReadFile(tableFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var name string
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "#") || line == "\n":
		case strings.HasPrefix(line, "\t"):
			table[name] += line
		default:
			name = strings.TrimSuffix(line, "\n")
			table[name] = ""
		}
	}
	return table
}

func writeTable(t *testing.T, names []string, table map[string]string) {
	t.Helper()
	var b strings.Builder
	b.WriteString(header)
	for _, name := range names {
		b.WriteString("\n" + name + "\n" + table[name])
	}
	if err := os.WriteFile(tableFile, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
