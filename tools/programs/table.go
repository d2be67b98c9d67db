package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// The lines around the tables in a page.
const (
	begin = "<!-- programs: written by make programs -->"
	end   = "<!-- end of programs -->"
)

// replaceTables replaces the tables in a page.
func replaceTables(file, tables string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(page), begin+"\n")
	_, after, found := strings.Cut(rest, end+"\n")
	if !ok || !found {
		return fmt.Errorf("%s has no lines %s and %s", file, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+tables+end+"\n"+after), 0o644)
}

// markdown returns the table of the programs and that of the faults.
func markdown(rows []*row) string {
	var b strings.Builder
	b.WriteString("| program | version | lines changed | its tests, its driver | its tests, `framework/zk` | faults survived, its driver | faults survived, `framework/zk` |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, r := range rows {
		lines := "-"
		if r.lines.files > 0 {
			lines = r.lines.String()
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", r.program.title, r.program.version, lines,
			r.passed(r.own, original), r.passed(r.own, ours), r.passed(r.faults, original), r.passed(r.faults, ours))
	}
	for _, p := range absent {
		fmt.Fprintf(&b, "| %s | - | - | not tested: %s | - | - | - |\n", p.title, p.why)
	}
	for _, r := range rows {
		if r.failure != nil {
			fmt.Fprintf(&b, "\n%s: %s\n", r.program.title, strings.ReplaceAll(r.failure.Error(), "\n", "\n    "))
		}
	}
	b.WriteString("\n| program | fault | its driver | `framework/zk` |\n| --- | --- | --- | --- |\n")
	for _, r := range rows {
		for _, name := range r.faultNames() {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.program.name, strings.ReplaceAll(name, "_", " "), r.survived(name, original), r.survived(name, ours))
		}
	}
	if notes := notes(rows); notes != "" {
		b.WriteString("\n" + notes)
	}
	return b.String()
}

// passed returns how many tests of how many have passed, on every server.
func (r *row) passed(cells map[cell]*outcome, d driver) string {
	var texts []string
	for at, o := range ordered(cells) {
		if at.driver != d {
			continue
		}
		text := fmt.Sprintf("%d of %d", len(o.passed), o.count())
		if n := len(o.skipped); n > 0 {
			text += fmt.Sprintf(", %d skipped", n)
		}
		if n := len(o.repeated); n > 0 {
			text += fmt.Sprintf(", %d not at once", n)
		}
		texts = append(texts, text)
	}
	switch {
	case len(texts) == 0:
		return "-"
	case len(texts) == 2 && texts[0] == texts[1]:
		return texts[0] + ", both servers"
	default:
		return strings.Join(texts, "; real: ")
	}
}

// faultNames returns the faults of a program in the order of their names.
func (r *row) faultNames() (names []string) {
	for _, o := range ordered(r.faults) {
		for _, name := range slices.Concat(o.passed, o.failed) {
			names = append(names, fault(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// survived returns whether a fault was survived with a driver, and what was measured, for each server.
func (r *row) survived(name string, d driver) string {
	var texts []string
	for at, o := range ordered(r.faults) {
		if at.driver != d {
			continue
		}
		text := "no"
		for _, test := range slices.Concat(o.passed, o.failed) {
			if fault(test) != name {
				continue
			}
			if slices.Contains(o.passed, test) {
				text = "yes"
			}
			if measured := o.measured[test]; len(measured) > 0 {
				text += " (" + strings.Join(measured, "; ") + ")"
			}
		}
		texts = append(texts, text)
	}
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(slices.Compact(texts), "; real: ")
}

// notes returns the reasons of what is not survived, and of what fails in any case.
func notes(rows []*row) string {
	var b strings.Builder
	for _, r := range rows {
		for _, name := range r.faultNames() {
			if why := r.program.weak[name]; why != "" {
				fmt.Fprintf(&b, "- %s, %s: %s.\n", r.program.name, strings.ReplaceAll(name, "_", " "), why)
			}
		}
		for _, o := range ordered(r.own) {
			for _, name := range o.failed {
				if why := r.program.broken[name]; why != "" {
					fmt.Fprintf(&b, "- %s, `%s`: %s.\n", r.program.name, name, why)
				}
			}
			break
		}
	}
	return b.String()
}
