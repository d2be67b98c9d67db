// Package screen draws lines of text on a terminal repeatedly, and restores the terminal at the
// end. It can also write the lines as a picture in SVG.
//
// Unprintable characters are escaped, see package terminaltext. A Terminal is used by one
// goroutine at a time.
package screen

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-curator/curator/tools/curator/internal/terminaltext"
)

// Style is how a piece of a line looks. No meaning is carried by the colour alone.
type Style int

// The styles.
const (
	Plain  Style = iota
	Strong       // a heading
	Faint        // what matters less
	Good         // somebody has what he wants
	Bad          // something is wrong
	Note         // something has changed
)

// Span is a piece of a line.
type Span struct {
	Text  string
	Style Style
}

// Line is a line of a screen.
type Line []Span

// Text returns a line in one style.
func Text(style Style, text string) Line { return Line{{text, style}} }

// And returns the line with another piece behind it.
func (l Line) And(style Style, text string) Line { return append(slices.Clip(l), Span{text, style}) }

// String returns the text of the line, without its styles.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(terminaltext.Line(s.Text))
	}
	return b.String()
}

// fit returns the line in at most as many columns, with all text made safe.
func (l Line) fit(columns int) Line {
	var fitted Line
	for _, s := range l {
		text, used := cut(terminaltext.Line(s.Text), columns)
		columns -= used
		fitted = append(fitted, Span{text, s.Style})
	}
	return fitted
}

// cut returns the beginning of a text that fits into columns, and how many of them it takes.
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

// Width returns how many columns a text takes when it is drawn.
func Width(text string) int {
	n := 0
	for _, r := range terminaltext.Line(text) {
		n += width(r)
	}
	return n
}

// wide has the blocks whose characters take two columns, of the East Asian scripts and of
// pictograms, in the order of their numbers.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

// width returns how many columns a printable character takes.
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

// Pad returns a text that takes so many columns, cut or with spaces behind it.
func Pad(text string, columns int) string {
	text, used := cut(terminaltext.Line(text), columns)
	return text + strings.Repeat(" ", max(columns-used, 0))
}
