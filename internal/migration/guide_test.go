package migration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The Go of the document is that of this package and, for gRPC, of the module that has it, but for
// its indentation. Its Java is compiled by the tests of internal/interop.
func TestGuide(t *testing.T) {
	guide := contents(t, "../../docs/migration.md")
	wantBlocks(t, guide, "go", goOfTests(t), "\t")
	wantBlocks(t, guide, "java", contents(t, "../interop/testdata/Migration.java"), "        ")
}

// goOfTests returns the text of the files that have the Go of the pages.
func goOfTests(t *testing.T) string {
	t.Helper()
	var ours strings.Builder
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../recipes/discovery/discoverygrpc/example_test.go") {
		ours.WriteString(contents(t, file))
	}
	return ours.String()
}

func wantBlocks(t *testing.T, guide, language, source, indent string) {
	t.Helper()
	blocks := strings.Split(guide, "```"+language+"\n")[1:]
	if len(blocks) < 20 {
		t.Errorf("%d blocks of %s", len(blocks), language)
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		var indented strings.Builder
		for line := range strings.Lines(block) {
			if line != "\n" {
				indented.WriteString(indent)
			}
			indented.WriteString(line)
		}
		if !strings.Contains(source, "{\n"+indented.String()) && !strings.Contains(source, "\n\n"+block) {
			t.Errorf("the page shows what is not compiled:\n%s", block)
		}
	}
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
