package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-curator/curator/tools/buildergen/spec"
)

// ParityOutput is the name of the file with the table.
const ParityOutput = "parity.md"

// javaName is a method's name with its parameters, if there are any.
var javaName = regexp.MustCompile(`\w+(\([^)]*\))?`)

// Parity returns the table of the counterparts of Java's methods.
func Parity(sections []spec.Section) ([]byte, error) {
	var body bytes.Buffer
	counts := map[spec.Absence]int{}
	for _, s := range sections {
		rows, err := parityRows(s)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Title, err)
		}
		fmt.Fprintf(&body, "\n## %s\n\n| Java | here | remark |\n| --- | --- | --- |\n", s.Title)
		for _, r := range rows {
			counts[r.Absent]++
			fmt.Fprintln(&body, parityLine(r))
		}
	}
	return append(parityHead(counts), body.Bytes()...), nil
}

func parityHead(counts map[spec.Absence]int) []byte {
	var head bytes.Buffer
	total := 0
	for _, n := range counts {
		total += n
	}
	fmt.Fprintf(&head, `<!-- Written by tools/buildergen from tools/buildergen/spec. Do not edit. -->

# Counterparts of Java's methods

Each public method of Java Curator 5.4 and its counterpart here: first the framework, then
curator-client, the recipes, the modules built on them and curator-test. Methods that are newer
than 5.4 are marked. Java spreads the steps of a chain over a hundred interfaces; here they are
with the builder that starts the chain. `+"`Type.*`"+` stands for everything in the type that no other
row names. Names without a package are those of package `+"`framework`"+`.
[migration.md](migration.md) shows both languages side by side.

There are %d rows. %d of them have a counterpart here. The others have none, for one of these
reasons:

| absent | rows | because |
| --- | --- | --- |
`, total, counts[spec.Present])
	for _, a := range spec.Absences {
		fmt.Fprintf(&head, "| %s | %d | %s |\n", a.Absence, counts[a.Absence], a.Meaning)
	}
	return head.Bytes()
}

// parityLine returns a row in Markdown.
func parityLine(r spec.Parity) string {
	code := func(name string) string { return "`" + name + "`" }
	var java, ours []string
	for _, m := range javaMethods(r.Java) {
		java = append(java, code(m.String()))
	}
	for _, name := range splitTrim(r.Ours, ",") {
		ours = append(ours, code(name))
	}
	here := strings.Join(ours, ", ")
	if r.Absent != spec.Present {
		here = "*" + string(r.Absent) + "*"
	}
	return fmt.Sprintf("| %s | %s | %s |", strings.Join(java, ", "), here, r.Remark)
}

// method is a method of Java.
type method struct{ owner, name, params string }

func (m method) String() string {
	if m.owner == "" {
		return m.name + m.params
	}
	return m.owner + "." + m.name + m.params
}

// javaMethods parses the field Java of a row.
func javaMethods(java string) (methods []method) {
	owner := ""
	for _, s := range splitTrim(java, ";") {
		s, params, hasParams := strings.Cut(s, "(")
		if dot := strings.LastIndex(s, "."); dot >= 0 {
			owner, s = s[:dot], s[dot+1:]
		}
		if hasParams {
			params = "(" + params
		}
		methods = append(methods, method{owner, s, params})
	}
	return methods
}

func splitTrim(list, sep string) (parts []string) {
	for part := range strings.SplitSeq(list, sep) {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// parityRows returns the rows of a section, the rows of its operation first.
func parityRows(s spec.Section) ([]spec.Parity, error) {
	rows := slices.Clone(s.Rows)
	if s.Op != "" {
		i := slices.IndexFunc(spec.Ops, func(op spec.Op) bool { return op.Name == s.Op })
		if i < 0 {
			return nil, fmt.Errorf("there is no operation %s", s.Op)
		}
		rows = append(operationRows(spec.Ops[i], s), rows...)
	}
	for i, r := range rows {
		known := r.Absent == spec.Present
		for _, a := range spec.Absences {
			known = known || a.Absence == r.Absent
		}
		switch {
		case !known:
			return nil, fmt.Errorf("%s: there is no reason %q", r.Java, r.Absent)
		case (r.Ours == "") == (r.Absent == spec.Present):
			return nil, fmt.Errorf("%s: a row needs either a counterpart or a reason", r.Java)
		case strings.ContainsAny(r.Java+r.Ours+r.Remark, "|\n"):
			return nil, fmt.Errorf("%s: a cell contains a character that breaks the table", r.Java)
		}
		rows[i].Remark = newer(r)
	}
	return rows, nil
}

// newer returns the remark of a row. For a method that Curator 5.4 does not have, it begins with that.
func newer(r spec.Parity) string {
	for _, m := range javaMethods(r.Java) {
		if slices.Contains(spec.Newer, m.name) {
			return strings.TrimSuffix("newer than 5.4; "+r.Remark, "; ")
		}
	}
	return r.Remark
}

// operationRows returns the rows of an operation, from its specification: the start of the chain, its
// steps and its terminal.
func operationRows(op spec.Op, s spec.Section) (rows []spec.Parity) {
	java, ours := op.Java, builder(op)
	if s.Tx {
		java, ours = "Transaction"+op.Name+"Builder", op.Tx
	}
	add := func(owner, name, ours, remark string) {
		if op.Java == "none" {
			owner, name, remark = "", "", "Java has none"
		}
		r := spec.Parity{Ours: ours, Remark: remark}
		if name != "" {
			r.Java = owner + "." + name
		}
		rows = append(rows, r)
	}
	if op.Entry == "" && !s.Tx {
		add("CuratorFramework", lower(op.Name), "Client."+op.Name, "")
	}
	for _, m := range op.Mods {
		name := ours + "." + m.Name
		told := slices.ContainsFunc(s.Rows, func(r spec.Parity) bool { return r.Ours == name })
		switch {
		case told || s.Tx && !m.Tx:
		case m.Java == "":
			add("", "", name, "Java has none")
		default:
			for _, step := range javaName.FindAllString(m.Java, -1) {
				add(java, step, name, "")
			}
		}
	}
	terminal := or(op.Terminal, "ForPath")
	if s.Tx {
		terminal = "ForPath"
	}
	add(java, lower(terminal), ours+"."+terminal, "")
	return rows
}
