//go:build unix && !aix

package screen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a terminal that is drawn on. Open makes one.
type Terminal struct {
	in, out *os.File
	stop    func()
	codes   map[Style]string
	saved   *unix.Termios // the former settings of in; nil if in is not a terminal
	signals chan os.Signal
	keys    chan byte
	reader  sync.WaitGroup
	quit    func()
}

// Columns returns the number of columns of a terminal, 0 if f is not a terminal.
func Columns(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	switch {
	case err != nil:
		return 0
	case size.Col == 0: // the terminal does not know its size
		return 80
	}
	return int(size.Col)
}

// enter switches to the alternate screen, hides the cursor and turns automatic line breaks off. leave
// reverses this.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// Open prepares the terminal out for drawing. If in is a terminal, too, Open prepares it for reading
// single keys. The caller must call Close before the program ends, whatever the reason. Errors:
// ErrNoTerminal if out is not a terminal.
func Open(in, out *os.File, o Options) (*Terminal, error) {
	if _, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ); err != nil {
		return nil, ErrNoTerminal
	}
	t := &Terminal{in: in, out: out, stop: o.Stop, codes: codes, signals: make(chan os.Signal, 4), keys: make(chan byte, 16)}
	if o.Colourless {
		t.codes = colourless
	}
	if saved, err := unix.IoctlGetTermios(int(in.Fd()), getTermios); err == nil { // otherwise no keys are read
		t.saved = saved
	}
	signal.Notify(t.signals, unix.SIGWINCH, unix.SIGTSTP, unix.SIGCONT)
	if err := t.take(); err != nil {
		signal.Stop(t.signals)
		return nil, err
	}
	t.startReader()
	return t, nil
}

// take prepares the terminal.
func (t *Terminal) take() error {
	if t.saved != nil {
		raw := *t.saved
		raw.Lflag &^= unix.ECHO | unix.ICANON // Ctrl-C and Ctrl-Z still send signals
		raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
		if err := unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &raw); err != nil {
			return fmt.Errorf("prepare the terminal: %w", err)
		}
	}
	_, err := t.out.WriteString(enter)
	return err
}

// give restores the terminal.
func (t *Terminal) give() error {
	_, err := t.out.WriteString(leave)
	if t.saved != nil {
		err = errors.Join(err, unix.IoctlSetTermios(int(t.in.Fd()), setTermios, t.saved))
	}
	return err
}

// startReader reads keys until Close.
func (t *Terminal) startReader() {
	t.quit = func() {}
	if t.saved == nil {
		return
	}
	read, write, err := os.Pipe()
	if err != nil {
		return
	}
	t.quit = func() { _ = write.Close() }
	t.reader.Go(func() {
		defer func() { _ = read.Close() }()
		for {
			fds := []unix.PollFd{{Fd: int32(t.in.Fd()), Events: unix.POLLIN}, {Fd: int32(read.Fd()), Events: unix.POLLIN}}
			if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
				return
			}
			if fds[1].Revents != 0 {
				return
			}
			if fds[0].Revents == 0 {
				continue
			}
			b := make([]byte, 16)
			n, err := unix.Read(int(t.in.Fd()), b)
			if n == 0 || err != nil && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
				return // the terminal is gone, or in was closed
			}
			b = b[:max(n, 0)]
			if key, known := keys[string(b)]; known {
				b = []byte{key}
			} else if len(b) > 1 && b[0] == 0x1b {
				continue // an unknown key that sends several bytes
			}
			for _, key := range b {
				select {
				case t.keys <- key:
				default: // the user types faster than keys are handled
				}
			}
		}
	})
}

// Size returns the number of columns and rows of the terminal.
func (t *Terminal) Size() (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// Draw shows the lines, cut to the size of the terminal. If there are too many lines, the last ones
// are left out.
func (t *Terminal) Draw(lines []Line) error {
	columns, rows := t.Size()
	lines = lines[:min(len(lines), rows)]
	var b bytes.Buffer
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		left := columns
		for _, s := range line.fit(columns) {
			left -= Width(s.Text)
			b.WriteString(t.codes[s.Style] + s.Text)
			if t.codes[s.Style] != "" {
				b.WriteString("\x1b[0m")
			}
		}
		if left > 0 { // after a full line this would delete the last character
			b.WriteString("\x1b[K")
		}
	}
	if len(lines) < rows {
		b.WriteString("\r\n\x1b[J")
	}
	_, err := t.out.Write(b.Bytes())
	return err
}

// Wait returns when there is a reason to draw again: a key was hit, changed is ready, the time after
// has passed, the size of the terminal has changed, or the process was continued after a stop. It
// returns the key, 0 for other reasons. When ctx ends it returns its error.
func (t *Terminal) Wait(ctx context.Context, changed <-chan struct{}, after time.Duration) (key byte, err error) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case key := <-t.keys:
		return key, nil
	case <-changed:
		return 0, nil
	case <-timer.C:
		return 0, nil
	case sig := <-t.signals:
		if sig != unix.SIGTSTP {
			return 0, nil
		}
		if err := t.give(); err != nil {
			return 0, err
		}
		t.stop()
		return 0, t.take()
	}
}

// Close restores the terminal.
func (t *Terminal) Close() error {
	signal.Stop(t.signals)
	t.quit()
	t.reader.Wait()
	return t.give()
}
