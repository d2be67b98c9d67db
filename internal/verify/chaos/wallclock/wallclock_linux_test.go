package wallclock_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program tells the time at each line that it reads: on the wall clock, asked in three ways, and on
// the monotonic clock.
const program = `
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
int main(void) {
    while (getchar() != EOF) {
        struct timespec wall, coarse, monotonic;
        struct timeval day;
        clock_gettime(CLOCK_REALTIME, &wall);
        clock_gettime(CLOCK_REALTIME_COARSE, &coarse);
        clock_gettime(CLOCK_MONOTONIC, &monotonic);
        gettimeofday(&day, NULL);
        printf("%ld %ld %ld %ld %ld\n", (long)wall.tv_sec, (long)coarse.tv_sec, (long)day.tv_sec, (long)time(NULL), (long)monotonic.tv_sec);
        fflush(stdout);
    }
}
`

// A process that runs has its clock stepped, forward and back, and no other clock.
func TestSteps(t *testing.T) {
	clock, dir := newClock(t), t.TempDir()
	if err := os.WriteFile(dir+"/program.c", []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "cc", "-o", dir+"/program", dir+"/program.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), dir+"/program")
	cmd.Env = clock.Environment()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	tell := func() (wall [4]int64, monotonic int64) {
		t.Helper()
		if _, err := in.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("no answer: %v", lines.Err())
		}
		if _, err := fmt.Sscan(lines.Text(), &wall[0], &wall[1], &wall[2], &wall[3], &monotonic); err != nil {
			t.Fatal(err)
		}
		return wall, monotonic
	}
	_, began := tell()
	const slack = 60 // seconds: of a machine that is busy
	for _, offset := range []time.Duration{0, 90 * time.Minute, -36 * time.Hour, 3 * time.Minute, 0} {
		if err := clock.Set(offset); err != nil {
			t.Fatal(err)
		}
		wall, monotonic := tell()
		for i, w := range wall {
			if off := w - time.Now().Add(offset).Unix(); off < -slack || off > slack {
				t.Errorf("offset %v, way %d: the clock is %d s off", offset, i, off)
			}
		}
		if monotonic < began || monotonic > began+slack {
			t.Errorf("offset %v: the monotonic clock says %d, and said %d", offset, monotonic, began)
		}
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Error(err)
	}
}
