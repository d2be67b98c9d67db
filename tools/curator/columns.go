package main

import (
	"strings"

	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/screen"
)

// columnsOf returns a line for each row, with aligned columns. The text of a cell may have any
// characters: those that are not printable are escaped.
func columnsOf(rows [][]string) []string {
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
