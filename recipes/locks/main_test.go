package locks_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/internal/suite"
)

// connectString is that of the examples' server.
var connectString string

// TestMain has package rapid check the same cases in every run, unless the command line says otherwise.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "30"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	suite.MainWithServer(m, &connectString)
}

// The README's program is the package's Example: what is shown is what was run.
func TestReadmeProgram(t *testing.T) {
	readme := read(t, "../../README.md")
	_, program, ok := strings.Cut(readme, "```go\n")
	if !ok {
		t.Fatal("README.md shows no Go program")
	}
	program, _, _ = strings.Cut(program, "```")
	example := body(t, read(t, "example_test.go"), "func Example() {\n")
	example, _, _ = strings.Cut(example, "\t// Output:")
	example = strings.ReplaceAll(example, "connectString", `"127.0.0.1:2181"`)
	if diff := cmp.Diff(example, body(t, program, "func main() {\n")); diff != "" {
		t.Errorf("README.md does not show Example:\n%s", diff)
	}
	imports := regexp.MustCompile(`(?s)import \((.*?)\n\)`)
	for line := range strings.FieldsSeq(imports.FindStringSubmatch(program)[1]) {
		if !strings.Contains(read(t, "example_test.go"), line) {
			t.Errorf("README.md imports %s, Example does not", line)
		}
	}
}

// body returns what stands between a function's head and its closing brace.
func body(t *testing.T, source, head string) string {
	t.Helper()
	_, rest, ok := strings.Cut(source, head)
	if !ok {
		t.Fatalf("no %q", head)
	}
	rest, _, _ = strings.Cut(rest, "\n}\n")
	return rest + "\n"
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
