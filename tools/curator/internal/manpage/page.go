// Package manpage writes the help of a command as a manual page, in the macros of man(7). Its
// functions are safe for concurrent use.
package manpage

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Name returns the name of the page of a command, such as curator-lock.
func Name(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// Page returns the page of a command, in section 1. version is that of the program.
func Page(cmd *cobra.Command, version string) string {
	w := &writer{}
	w.line(`.TH "%s" "1" "" "Curator %s" "Curator"`, strings.ToUpper(Name(cmd)), version)
	w.line(".nh\n.ad l") // no hyphenation, which would break names
	w.heading("NAME")
	w.line(`%s \- %s`, escape(Name(cmd)), escape(lower(cmd.Short)))
	w.heading("SYNOPSIS")
	if cmd.Runnable() && cmd.HasParent() {
		w.line(`\fB%s\fR %s`, escape(cmd.CommandPath()), escape(arguments(cmd)))
	} else {
		w.line(`\fB%s\fR COMMAND`, escape(cmd.CommandPath()))
	}
	w.heading("DESCRIPTION")
	w.prose(cmd.Long)
	if cmd.HasAvailableSubCommands() {
		w.commands(cmd)
	}
	w.flags("OPTIONS", cmd.LocalNonPersistentFlags())
	w.flags("OPTIONS OF THE ENSEMBLE", cmd.PersistentFlags())
	if cmd.Example != "" {
		w.heading("EXAMPLES")
		w.literal(strings.Split(cmd.Example, "\n"))
	}
	w.seeAlso(cmd)
	return w.String()
}

// writer writes a page.
type writer struct{ strings.Builder }

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.Builder, format+"\n", args...) }

func (w *writer) heading(text string) { w.line(".SH %s", text) }

// prose writes a help text: paragraphs, and blocks of indented lines, which are not filled. A short
// line before a block is a heading if it does not end in punctuation.
func (w *writer) prose(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		lines := strings.Split(paragraph, "\n")
		if isHeading(lines) {
			w.heading(strings.ToUpper(escape(lines[0])))
			lines = lines[1:]
		} else if i > 0 {
			w.line(".PP")
		}
		for len(lines) > 0 {
			n := 0
			for n < len(lines) && strings.HasPrefix(lines[n], " ") == strings.HasPrefix(lines[0], " ") {
				n++
			}
			if strings.HasPrefix(lines[0], " ") {
				w.literal(lines[:n])
			} else {
				for _, line := range lines[:n] {
					w.line("%s", escape(line))
				}
			}
			lines = lines[n:]
		}
	}
}

// isHeading reports whether the first line is the heading of the indented lines after it.
func isHeading(lines []string) bool {
	const longest = 40
	return len(lines) > 1 && strings.HasPrefix(lines[1], " ") && len(lines[0]) < longest &&
		!strings.HasPrefix(lines[0], " ") && !strings.ContainsAny(lines[0][len(lines[0])-1:], ".:;,") &&
		strings.Count(lines[0], " ") < 3
}

// literal writes lines that are not filled.
func (w *writer) literal(lines []string) {
	w.line(".PP\n.nf")
	for _, line := range lines {
		w.line("%s", escape(line))
	}
	w.line(".fi")
}

func (w *writer) commands(cmd *cobra.Command) {
	w.heading("COMMANDS")
	for _, group := range cmd.Groups() {
		w.line(".SS %s", escape(strings.TrimSuffix(group.Title, ":")))
		for _, sub := range cmd.Commands() {
			if sub.GroupID == group.ID && sub.IsAvailableCommand() {
				w.line(".TP\n\\fB%s\\fR\n%s", escape(Name(sub)+"(1)"), escape(sub.Short))
			}
		}
	}
}

func (w *writer) flags(title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	w.heading(title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, text := pflag.UnquoteUsage(f)
		flag := `\fB` + escape("--"+f.Name) + `\fR`
		if f.Shorthand != "" {
			flag = `\fB` + escape("-"+f.Shorthand) + `\fR, ` + flag
		}
		if name != "" {
			flag += ` \fI` + escape(name) + `\fR`
		}
		w.line(".TP\n%s\n%s", flag, escape(text))
	})
}

func (w *writer) seeAlso(cmd *cobra.Command) {
	w.heading("SEE ALSO")
	if cmd.HasParent() {
		w.line(`\fB%s\fR(1), for the options of the ensemble`, escape(Name(cmd.Root())))
		return
	}
	var pages []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			pages = append(pages, `\fB`+escape(Name(sub))+`\fR(1)`)
		}
	}
	w.line("%s", strings.Join(pages, ", "))
}

// arguments returns the part of the command's usage after its name.
func arguments(cmd *cobra.Command) string {
	_, rest, _ := strings.Cut(cmd.Use, " ")
	if cmd.HasAvailableLocalFlags() && !strings.Contains(rest, "[flags]") {
		rest = strings.TrimSpace("[flags] " + rest)
	}
	return rest
}

// escape escapes text so that roff finds no requests or escape sequences in it.
func escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "'", `\(aq`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// lower returns a text with its first letter in lower case.
func lower(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToLower(text[:1]) + text[1:]
}
