// Package output writes values as text: as JSON, as YAML, and safely for a terminal.
//
// Names, data and texts of other programs may contain control characters, which must not reach the
// terminal. Values of other programs, such as the payload of a service, may be nested deeply. If each
// level were indented, the text would grow with the square of its depth, so the package limits how much
// of it is indented. All functions are safe for concurrent use.
package output

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns a text on one line. Characters that are not printable and bytes that are not UTF-8 are
// escaped as in Go, such as \n, \x1b or \u202e. A backslash is not escaped.
func Line(text string) string {
	if strings.IndexFunc(text, unsafe) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unsafe(r):
			b.WriteString(escape(r))
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// Block is Line for a text of several lines: it does not escape line feeds and tabs.
func Block(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j, cell := range cells {
			cells[j] = Line(cell)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// unsafe reports whether a character is not printable. U+FFFD is printable, but range also returns it
// for a byte that is not UTF-8; Line handles that itself.
func unsafe(r rune) bool { return !unicode.IsPrint(r) }

func escape(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	switch {
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// Hex returns the id of a session, or a zxid, in the form of ZooKeeper's logs.
func Hex(id int64) string { return fmt.Sprintf("0x%x", uint64(id)) }
