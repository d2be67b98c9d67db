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
	saved   *unix.Termios // of in; nil if in is no terminal
	signals chan os.Signal
	keys    chan byte
	reader  sync.WaitGroup
	quit    func()
}

// enter shows a second, empty page of the terminal, without a cursor and without line breaks at
// its edge; leave shows the first page again, as it was.
const (
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// Open prepares the terminal out to be drawn on, and in to be read key by key, if it is a
// terminal, too. Close must be called, however the program ends. Errors: ErrNoTerminal.
func Open(in, out *os.File, o Options) (*Terminal, error) {
	if _, err := unix.IoctlGetWinsize(int(out.Fd()), unix.TIOCGWINSZ); err != nil {
		return nil, ErrNoTerminal
	}
	t := &Terminal{in: in, out: out, stop: o.Stop, codes: codes, signals: make(chan os.Signal, 4), keys: make(chan byte, 16)}
	if o.Colourless {
		t.codes = colourless
	}
	t.saved, _ = unix.IoctlGetTermios(int(in.Fd()), getTermios) // nil: there are no keys
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
		raw.Lflag &^= unix.ECHO | unix.ICANON // signals stay
		raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
		if err := unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &raw); err != nil {
			return fmt.Errorf("prepare the terminal: %w", err)
		}
	}
	_, err := t.out.WriteString(enter)
	return err
}

// give makes the terminal what it was.
func (t *Terminal) give() error {
	_, err := t.out.WriteString(leave)
	if t.saved != nil {
		err = errors.Join(err, unix.IoctlSetTermios(int(t.in.Fd()), setTermios, t.saved))
	}
	return err
}

// startReader reads keys until Close.
func (t *Terminal) startReader() {
	read, write, err := os.Pipe()
	if t.saved == nil || err != nil {
		t.quit = func() {}
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
				return // the terminal is gone
			}
			b = b[:max(n, 0)]
			if key, known := keys[string(b)]; known {
				b = []byte{key}
			} else if len(b) > 1 && b[0] == 0x1b {
				continue // another key that sends several bytes
			}
			for _, key := range b {
				select {
				case t.keys <- key:
				default: // nobody wants so many
				}
			}
		}
	})
}

// Size returns how many columns and rows the terminal has.
func (t *Terminal) Size() (columns, rows int) {
	size, err := unix.IoctlGetWinsize(int(t.out.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 || size.Row == 0 {
		return 80, 24
	}
	return int(size.Col), int(size.Row)
}

// Draw shows the lines, cut to the size of the terminal. Lines that find no room are left out
// from the end.
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
		if left > 0 { // behind a full line it would take the last character away
			b.WriteString("\x1b[K")
		}
	}
	if len(lines) < rows {
		b.WriteString("\r\n\x1b[J")
	}
	_, err := t.out.Write(b.Bytes())
	return err
}

// Wait returns when there is a reason to draw again: changed can be received from, after has
// passed, or the terminal has another size or comes back. It returns the key that was hit, 0 for
// another reason, and ctx's error when that ends.
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

// Close makes the terminal what it was.
func (t *Terminal) Close() error {
	signal.Stop(t.signals)
	t.quit()
	t.reader.Wait()
	return t.give()
}
