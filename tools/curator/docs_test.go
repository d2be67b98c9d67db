//go:build unix

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/go-curator/curator/tools/curator/internal/console"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

const docsIntro = `# The command line

The tool ` + "`curator`" + ` runs commands under locks, shows who holds them, and reads and changes
nodes, as ZooKeeper's shell does.

    go install github.com/go-curator/curator/tools/curator@latest

This page has the help of every command. It has the flags of the ensemble and the exit statuses
only once. It is generated from the commands: change their help, and run
` + "`go test ./tools/curator -run TestDocs -rewrite`" + `.

The JSON of ` + "`-o json`" + ` is stable: no name is removed or changes its meaning, but names may be
added. ` + "`-o yaml`" + ` has the same names and values. Tables are for people, and may change. A command
with ` + "`--watch`" + ` that does not write to a terminal prints its whole output again at each change:
JSON as one object on a line, YAML as a document after a line ` + "`---`" + `, tables with an empty line
between them.
`

// TestDocs compares docs/cli.md with the help of the commands. With -rewrite it writes the page.
func TestDocs(t *testing.T) {
	const page = "../../docs/cli.md"
	var b strings.Builder
	b.WriteString(docsIntro)
	section := func(title string, args ...string) {
		code, help, stderr := runHere(t, nil, append(args, "--help")...)
		if code != 0 {
			t.Fatalf("%q: %d, %s", args, code, stderr)
		}
		if len(args) > 0 {
			help, _, _ = strings.Cut(help, "\nFlags of the ensemble:\n")
			help = strings.Replace(help, exitHelp, "\nThe exit statuses are those above.\n", 1)
		}
		if title != "curator lock" {
			help = strings.Replace(help, strings.TrimSuffix(runHelp, exitHelp), "\nEverything else is as for curator lock.\n", 1)
		}
		b.WriteString("\n## " + title + "\n\n```text\n" + strings.TrimSpace(help) + "\n```\n")
	}
	section("curator")
	for _, group := range newProgram().groups() {
		for _, cmd := range group.commands {
			section("curator "+cmd.Name(), cmd.Name())
		}
	}
	got := b.String()
	if *rewrite {
		if err := os.WriteFile(page, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is out of date: go test ./tools/curator -run TestDocs -rewrite", page)
	}
}

// newProgram returns a program whose commands can be read, but not run.
func newProgram() *program { return &program{&console.Console{}, settings.New()} }
