package curatorcertmagic_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

const (
	original = "github.com/caddyserver/certmagic"
	imitated = "conformance.test/certmagic" // the copy's path, which may import the adapter
)

// notOurs has the tests of CertMagic that are left out, and why.
var notOurs = map[string]string{
	"TestFileStorageStoreLoadRace": "it stores 4 MiB, which Storage refuses; TestStoreLoadRace does the same with less",
	"TestFileStorageWriteLock":     "it wants a lock with a context that has ended, which FileStorage ignores; TestWriteLock is the rest of it",
	"TestGetEmailFromRecent":       "it changes the times of folders on the disk",
	"TestLookupNameserversOK":      "it asks the DNS",
	"TestFindZoneByFqdn":           "it asks the DNS",
}

// conformance is CertMagic's own tests as a program, which needs its folder, and a server.
type conformance struct{ program, dir string }

// CertMagic's own tests pass with our Storage in place of its FileStorage.
func TestCertMagicsTests(t *testing.T) {
	if testing.Short() {
		return // it takes no server in virtual time, and a minute to compile
	}
	c := buildConformance(t)
	skip := strings.Join(slices.Sorted(maps.Keys(notOurs)), "|")
	listed, err := exec.CommandContext(t.Context(), c.program, "-test.list", "^("+skip+")$").Output()
	if n := bytes.Count(listed, []byte("\n")); err != nil || n != len(notOurs) {
		t.Errorf("%d of %d tests that are left out are there, %v:\n%s", n, len(notOurs), err, listed)
	}
	suite.EachOf(t, suite.OnEmbeddedServer|suite.OnRealServer, func(t *testing.T, b *suite.Backend) {
		cmd := exec.CommandContext(t.Context(), c.program, "-test.v", "-test.skip", "^("+skip+")$", "-test.timeout", "5m")
		cmd.Dir = c.dir
		cmd.Env = append(os.Environ(), "CURATOR_CONNECT="+b.ConnectString(), "TMPDIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, failures(out))
		}
		if passed := bytes.Count(out, []byte("\n--- PASS: ")); passed < 60 {
			t.Errorf("%d tests have passed", passed)
		}
		client, _ := b.Client(t)
		if made, err := client.GetChildren().ForPath(t.Context(), "/conformance"); err != nil || len(made) == 0 {
			t.Errorf("nodes of the tests: %q, %v", made, err)
		}
	})
}

// buildConformance copies CertMagic, under another path because the adapter imports the original, and compiles
// the tests of the copy.
func buildConformance(t *testing.T) conformance {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "certmagic")
	run := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.CopyFS(dir, os.DirFS(run(".", "list", "-m", "-f", "{{.Dir}}", original))); err != nil {
		t.Fatal(err)
	}
	rewrite := func(path, from string, change func(text string) string) {
		t.Helper()
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.Remove(path) // it may be read-only
		}
		if err == nil {
			err = os.WriteFile(path, []byte(change(string(text))), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%q, %v", files, err)
		}
		for _, file := range files {
			rewrite(file, file, func(text string) string {
				return strings.ReplaceAll(text, `"`+original, `"`+imitated)
			})
		}
	}
	same := func(text string) string { return text }
	rewrite(filepath.Join(dir, "filestorage.go"), "testdata/filestorage.go.txt", same)
	rewrite(filepath.Join(dir, "go.sum"), "go.sum", same)
	adapter, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	rewrite(filepath.Join(dir, "go.mod"), "go.mod", func(text string) string {
		const ours = "github.com/go-curator/curator/recipes/adapters/certmagic"
		text = strings.Replace(text, "module "+ours, "module "+imitated, 1)
		text = strings.Replace(text, "=> ../../..", "=> "+filepath.Join(adapter, "../../.."), 1)
		return text + "\nrequire " + ours + " v0.0.0\n\nreplace " + ours + " => " + adapter + "\n"
	})
	program := filepath.Join(dir, "certmagic.test")
	run(dir, "test", "-vet=off", "-c", "-o", program, ".")
	return conformance{program, dir}
}

var passing = regexp.MustCompile(`(?m)^(=== .*|\s*--- PASS: .*|\d{4}/.*)\n`)

// failures returns what the output of a test says of those that have failed.
func failures(out []byte) []byte { return passing.ReplaceAll(out, nil) }
