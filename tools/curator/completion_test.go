//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompletion(t *testing.T) {
	for shell, want := range map[string]string{"bash": "__start_curator", "zsh": "#compdef curator", "fish": "complete -c curator"} {
		if code, stdout, stderr := runHere(t, nil, "completion", shell); code != 0 || stderr != "" || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit code %d, stderr %q", shell, code, stderr)
		}
	}
	s := newEmbeddedServer(t)
	for _, path := range []string{"/locks/orders", "/locks/other", "/locks/a b", "/locks/mark\u202e", "/queues"} {
		s.create(path, "")
	}
	for line, want := range map[string]string{
		"__complete lo":                          "lock locks",
		"__complete get /":                       "/locks /queues /tests /zookeeper",
		"__complete get /locks/o":                "/locks/orders /locks/other",
		"__complete lock /lo":                    "/locks",
		"__complete locks -o ":                   "table json yaml",
		"__complete create --mode ":              "persistent sequential container",
		"__complete completion ":                 "bash zsh fish",
		"__complete get /none/":                  "",
		"__complete get --connect 127.0.0.1:1 /": "",
	} {
		args := strings.Split(line, " ")
		stdout, _ := s.ask(0, args...)
		var got []string
		for line := range strings.Lines(stdout) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") {
				got = append(got, word)
			}
		}
		wanted := strings.Fields(want)
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) && !(want == "/locks /queues /tests /zookeeper" && slices.Equal(got, []string{"/locks", "/queues", "/zookeeper"})) {
			t.Errorf("%s: %q, want %q", line, got, wanted)
		}
	}
}

func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if code, _, stderr := runHere(t, nil, "man", "--dir", dir); code != 0 {
		t.Fatal(stderr)
	}
	for _, cmd := range newProgram().command().Commands() {
		if cmd.Hidden {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, "curator-"+cmd.Name()+".1"))
		if err != nil {
			t.Error(err)
			continue
		}
		for line := range strings.Lines(string(text)) {
			request, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.HasPrefix(request, ".") && !slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".PP", ".nf", ".fi", ".nh", ".ad"}, request) {
				t.Errorf("%s: %q", cmd.Name(), line)
			}
		}
	}
	_, page, _ := runHere(t, nil, "man", "lock")
	for _, want := range []string{`.TH "CURATOR-LOCK" "1"`, ".SH EXIT STATUSES\n", `\fB\-E\fR, \fB\-\-conflict\-exit\-code\fR`, `\fBcurator lock\fR [flags] PATH \-\- CMD [ARG...]`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q:\n%s", want, page)
		}
	}
}
