package screen

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// openPty returns both ends of a new terminal.
func openPty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	open := func(name string) *os.File {
		file, err := os.OpenFile(name, os.O_RDWR|unix.O_NOCTTY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return file
	}
	master = open("/dev/ptmx")
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetUint32(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	return master, open(fmt.Sprintf("/dev/pts/%d", n))
}

// openFiles returns the number of this process's open files.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Close leaves no files open, whether or not keys were read.
func TestCloseLeavesNoFiles(t *testing.T) {
	_, slave := openPty(t)
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for name, in := range map[string]*os.File{"a terminal": slave, "not a terminal": null} {
		before := openFiles(t)
		terminal, err := Open(in, slave, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := terminal.Close(); err != nil {
			t.Fatal(err)
		}
		if after := openFiles(t); after != before {
			t.Errorf("%s: %d files are open, %d were before", name, after, before)
		}
	}
}
