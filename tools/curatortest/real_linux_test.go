package curatortest_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestServersEndWithTheirParent kills a program that has started a real server, which must then end,
// too. The program is the test's own.
func TestServersEndWithTheirParent(t *testing.T) {
	t.Parallel()
	const asked = "CURATORTEST_START_AND_WAIT"
	if os.Getenv(asked) != "" {
		fmt.Println(curatortest.Real(t).ConnectString())
		select {}
	}
	program := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	program.Env = append(os.Environ(), asked+"=1", "TMPDIR="+t.TempDir())
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// The program and the processes that it starts have one end of a pipe open. A read from the other
	// end returns when all of them have ended.
	alive, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	program.ExtraFiles = []*os.File{held}
	if err := errors.Join(program.Start(), held.Close()); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	if line == "PASS\n" {
		curatortest.Real(t) // there is no ZooKeeper, so the program has skipped its test, and this skips this one
	}
	if err := program.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := alive.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Error(err)
	}
	if _, err := alive.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server lives on: %v", err)
	}
	program.Wait()
}

// A server that cannot write to its disk answers no write request, and ends. When it is started again
// with room on the disk, it serves its former data.
func TestFillDisk(t *testing.T) {
	t.Parallel()
	e := curatortest.Real(t)
	client := e.Client(t, framework.WithConnectionTimeout(time.Second))
	if _, err := client.Create().ForPath(t.Context(), "/before"); err != nil {
		t.Fatal(err)
	}
	m := e.Member(0)
	free := m.FillDisk()
	if _, err := client.Create().ForPath(t.Context(), "/while"); err == nil {
		t.Error("a write is answered, though the disk is full")
	}
	eventually(t, "the server ends", func() bool { return m.Mode() == "" })
	free()
	m.Restart()
	if _, err := client.CheckExists().ForPath(t.Context(), "/before"); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}
