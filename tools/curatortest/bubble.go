package curatortest

import (
	"bytes"
	"runtime"
)

// inBubble says whether the calling goroutine is in a bubble of testing/synctest. The package has
// no function for that, but the first line of a goroutine's stack names the bubble. If a later Go
// writes that line in another way, there is no check, and nothing else changes.
func inBubble() bool {
	var stack [128]byte
	first, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(first, []byte("synctest bubble"))
}

// refuseSockets fails a test that would use sockets in a bubble, because it would wait until the
// time limit of go test: the bubble's clock does not move while a goroutine waits for a socket.
func refuseSockets(tb TB) {
	tb.Helper()
	if inBubble() {
		tb.Fatalf("curatortest: in a bubble of testing/synctest only a server of Start with Virtual works: a socket stops the bubble's clock")
	}
}
