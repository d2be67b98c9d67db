//go:build !unix || aix

package screen

import (
	"context"
	"os"
	"time"
)

// Terminal does nothing: drawing is not supported on this system.
type Terminal struct{}

// Open returns ErrNoTerminal.
func Open(_, _ *os.File, _ Options) (*Terminal, error) { return nil, ErrNoTerminal }

// Size returns 80 columns and 24 rows.
func (*Terminal) Size() (columns, rows int) { return 80, 24 }

// Draw returns ErrNoTerminal.
func (*Terminal) Draw([]Line) error { return ErrNoTerminal }

// Wait returns ErrNoTerminal.
func (*Terminal) Wait(context.Context, <-chan struct{}, time.Duration) (key byte, err error) {
	return 0, ErrNoTerminal
}

// Close does nothing.
func (*Terminal) Close() error { return nil }

// Columns returns 0: it is not known whether a file is a terminal.
func Columns(*os.File) int { return 0 }
