// Package screen draws lines of text on a terminal repeatedly, and restores the terminal at the
// end. It can also write the lines as a picture in SVG.
//
// Unprintable characters are escaped, see package output. A Terminal is used by one
// goroutine at a time.
package screen

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/go-curator/curator/tools/curator/internal/output"
)

// Style is how a part of a line looks. The text must be clear without the style, because not every
// terminal has colours.
type Style int

// The styles.
const (
	Plain  Style = iota
	Strong       // a heading
	Faint        // less important text
	Good         // a success
	Bad          // something is wrong
	Note         // something has changed
)

// Span is a part of a line.
type Span struct {
	Text  string
	Style Style
}

// Line is a line of a screen.
type Line []Span

// Text returns a line in one style.
func Text(style Style, text string) Line { return Line{{text, style}} }

// And returns the line with another part at its end.
func (l Line) And(style Style, text string) Line { return append(slices.Clip(l), Span{text, style}) }

// String returns the text of the line, without its styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(output.Line(s.Text))
	}
	return b.String()
}

// fit returns the line cut to a number of columns, with characters that are not printable escaped.
func (l Line) fit(columns int) Line {
	var fitted Line
	for _, s := range l {
		text, used := cut(output.Line(s.Text), columns)
		columns -= used
		fitted = append(fitted, Span{text, s.Style})
	}
	return fitted
}

// cut returns the beginning of a text that fits into columns, and its width in columns.
func cut(text string, columns int) (fits string, used int) {
	for i, r := range text {
		w := width(r)
		if used+w > columns {
			return text[:i], used
		}
		used += w
	}
	return text, used
}

// Width returns the number of columns of a text on the screen.
func Width(text string) int {
	n := 0
	for _, r := range output.Line(text) {
		n += width(r)
	}
	return n
}

// wide has the ranges of characters that take two columns, of East Asian scripts and of pictograms,
// in ascending order.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

// width returns the number of columns of a printable character.
func width(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	for _, block := range wide {
		if r >= block[0] && r <= block[1] {
			return 2
		}
	}
	return 1
}

// Pad returns a text of exactly the given number of columns, cut or with spaces at its end.
func Pad(text string, columns int) string {
	text, used := cut(output.Line(text), columns)
	return text + strings.Repeat(" ", max(columns-used, 0))
}

// ErrNoTerminal is returned by Open when out is not a terminal that can be drawn on.
var ErrNoTerminal = errors.New("this is not a terminal")

// Keys that are not characters.
const (
	KeyUp byte = iota + 0x80
	KeyDown
	KeyPageUp
	KeyPageDown
)

// keys has the sequences that terminals send for these keys.
var keys = map[string]byte{
	"\x1b[A": KeyUp, "\x1bOA": KeyUp, "\x1b[B": KeyDown, "\x1bOB": KeyDown, "\x1b[5~": KeyPageUp, "\x1b[6~": KeyPageDown,
}

// Options of a Terminal.
type Options struct {
	// Stop stops this process, and returns when the process is continued. Wait calls it when the
	// user types Ctrl-Z, after it has restored the terminal.
	Stop func()
	// Colourless turns colours off.
	Colourless bool
}

// codes are the control sequences of the styles. The colours are among the eight that every terminal
// has and that users can configure.
var codes = map[Style]string{
	Strong: "\x1b[1m", Faint: "\x1b[2m", Good: "\x1b[32m", Bad: "\x1b[1;31m", Note: "\x1b[33m",
}

// colourless are the control sequences without colours.
var colourless = map[Style]string{Strong: "\x1b[1m", Faint: "\x1b[2m", Bad: "\x1b[1m"}
