package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
)

// The formats of a Printer.
const (
	AsTable = "table"
	AsJSON  = "json"
	AsYAML  = "yaml"
)

// Result is what a command shows. Each call of Rows computes the ages anew.
type Result struct {
	Document any
	Rows     func() [][]string
}

// Printer prints in a format. One goroutine uses it at a time.
type Printer struct {
	Out    io.Writer
	Format string
}

// Show prints a result.
func (p Printer) Show(r Result) error {
	if p.Format == AsTable {
		return p.Table(r.Rows())
	}
	return p.Document(r.Document)
}

// Document prints a value as JSON on several lines, or as YAML.
func (p Printer) Document(value any) error {
	write := output.JSON
	if p.Format == AsYAML {
		write = output.JSONLine
	}
	text, err := write(value)
	if err == nil && p.Format == AsYAML {
		text, err = output.YAML(text)
	}
	if err == nil {
		_, err = p.Out.Write(text)
	}
	return err
}

// Next prints one of several values, which text has as JSON on one line: as that, or as YAML after a
// line ---.
func (p Printer) Next(text []byte) error {
	if p.Format == AsYAML {
		document, err := output.YAML(text)
		if err != nil {
			return err
		}
		text = append([]byte("---\n"), document...)
	}
	_, err := p.Out.Write(text)
	return err
}

// Table prints rows in columns. A cell may have any characters.
func (p Printer) Table(rows [][]string) error {
	for _, line := range columns(rows) {
		if _, err := fmt.Fprintln(p.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// columns returns a line for each row, with aligned columns. The text of a cell may have any
// characters: those that are not printable are escaped.
func columns(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row[:max(len(row)-1, 0)] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], screen.Width(cell))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			if j == len(row)-1 {
				b.WriteString(output.Line(cell))
			} else {
				b.WriteString(screen.Pad(cell, widths[j]+2))
			}
		}
		lines[i] = b.String()
	}
	return lines
}

// Age returns the time since a server's time as text. It is 0 if the server's clock is ahead, and a dash if the time
// is not known.
func Age(since time.Time) string {
	if since.IsZero() {
		return orDash("")
	}
	return fmt.Sprint(max(time.Since(since), 0).Round(time.Second))
}

// Time is a time that may not be known: then it is zero, and "" in JSON.
type Time struct{ time.Time }

// MarshalJSON returns the time in the form of RFC 3339.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	return t.Time.MarshalJSON()
}

// orDash returns a text, or a dash if it is empty.
func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
