package main

import "github.com/go-curator/curator/tools/curator/internal/screen"

// openScreen prepares the terminal of standard output for drawing. It returns
// screen.ErrNoTerminal if there is none, or it cannot be drawn on.
func (p *program) openScreen() (*screen.Terminal, error) {
	if p.getenv("TERM") == "dumb" {
		return nil, screen.ErrNoTerminal
	}
	return screen.Open(p.stdin, p.stdout.file, screen.Options{Stop: p.stopAsJob, Colourless: p.getenv("NO_COLOR") != ""})
}
