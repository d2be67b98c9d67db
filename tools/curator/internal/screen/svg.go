package screen

import (
	"fmt"
	"html"
	"strings"
)

// Lengths in the picture, in its units.
const (
	cellWidth  = 8.4
	lineHeight = 19
	fontSize   = 14
	margin     = 16
	titleBar   = 30
)

// inks are the colours of the styles. Their contrast to the dark background is at least 4.5.
var inks = map[Style]string{
	Plain: "#d8dee9", Strong: "#ffffff", Faint: "#93a1b5", Good: "#8fd694", Bad: "#ff8a80", Note: "#f2cc60",
}

// SVG returns the lines as a picture of a terminal with the given number of columns. description is
// for users who cannot see the picture.
func SVG(lines []Line, columns int, title, description string) string {
	width := float64(columns)*cellWidth + 2*margin
	height := titleBar + len(lines)*lineHeight + 2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n", width, height, html.EscapeString(description))
	fmt.Fprintf(&b, `<title>%s</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="#1d232e"/>`+"\n", width, height)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5" fill="#4c566a"/>`+"\n", margin+5+i*16)
	}
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d">`+"\n", fontSize)
	for i, line := range lines {
		y := titleBar + margin + i*lineHeight
		column := 0
		for _, s := range line.fit(columns) {
			for _, p := range pieces(s.Text) {
				// textLength sets the width, because fonts differ.
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f">%s</text>`+"\n", margin+float64(column+p.column)*cellWidth, y,
					inks[s.Style], weight(s.Style), float64(Width(p.text))*cellWidth, html.EscapeString(p.text))
			}
			column += Width(s.Text)
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// piece is a part of a text without consecutive spaces, which SVG would show as one space.
type piece struct {
	column int
	text   string
}

func pieces(text string) (list []piece) {
	column := 0
	for text != "" {
		spaces := len(text) - len(strings.TrimLeft(text, " "))
		column, text = column+spaces, text[spaces:]
		part, rest, _ := strings.Cut(text, "  ")
		if part != "" {
			list = append(list, piece{column, part})
		}
		column += Width(part)
		if rest != "" {
			column += 2
		}
		text = rest
	}
	return list
}

func weight(s Style) string {
	if s == Strong {
		return ` font-weight="bold"`
	}
	return ""
}
