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
