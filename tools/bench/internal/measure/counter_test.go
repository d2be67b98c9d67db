package measure

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"github.com/go-curator/curator/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stream returns frames with bodies of the given lengths.
func stream(lengths ...int) []byte {
	var b []byte
	for _, n := range lengths {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
		b = append(b, make([]byte, n)...)
	}
	return b
}

// TestFrames passes the same stream in pieces of every size.
func TestFrames(t *testing.T) {
	b := stream(5, 0, 1, 300, 7)
	for size := 1; size <= len(b); size++ {
		var f frames
		var found int64
		for rest := b; len(rest) > 0; {
			n := min(size, len(rest))
			found += f.pass(rest[:n])
			rest = rest[n:]
		}
		if found != 5 {
			t.Errorf("in pieces of %d: %d frames", size, found)
		}
	}
}

// exchange sends b to an echo server, and waits for the answer.
func exchange(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error), address string, b []byte) {
	t.Helper()
	conn, err := dial(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, make([]byte, len(b))); err != nil {
		t.Fatal(err)
	}
}

func TestCounter(t *testing.T) {
	address := suite.Echo(t)
	var c Counter
	b := stream(10, 20)
	for range 3 {
		exchange(t, c.DialContext, address, b)
	}
	want := Wire{Requests: 6, Sent: int64(3 * len(b)), Received: int64(3 * len(b))}
	if got := c.Total(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if _, err := c.DialContext(t.Context(), "tcp", "127.0.0.1:0"); err == nil {
		t.Error("connected to nothing")
	}
}
