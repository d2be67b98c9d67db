//go:build !unix || aix

package screen

import (
	"context"
	"os"
	"time"
)

// Terminal is a terminal that is drawn on. There is none on this system.
type Terminal struct{}

// Open returns ErrNoTerminal.
func Open(_, _ *os.File, _ Options) (*Terminal, error) { return nil, ErrNoTerminal }

// Size returns the size that a terminal would have.
func (*Terminal) Size() (columns, rows int) { return 80, 24 }

// Draw returns ErrNoTerminal.
func (*Terminal) Draw([]Line) error { return ErrNoTerminal }

// Wait returns ErrNoTerminal.
func (*Terminal) Wait(context.Context, <-chan struct{}, time.Duration) (key byte, err error) {
	return 0, ErrNoTerminal
}

// Close does nothing.
func (*Terminal) Close() error { return nil }
