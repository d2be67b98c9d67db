package curatortest

import (
	"bytes"
	"runtime"
)

// inBubble reports whether the calling goroutine is in a bubble of testing/synctest. Package synctest
// has no function for that, but the first line of a goroutine's stack names the bubble. If that line
// changes in a later Go, inBubble returns false, and there is no check.
func inBubble() bool {
	var stack [128]byte
	first, _, _ := bytes.Cut(stack[:runtime.Stack(stack[:], false)], []byte("\n"))
	return bytes.Contains(first, []byte("synctest bubble"))
}

// refuseSockets fails a test that would use sockets in a bubble. The bubble's clock does not advance
// while a goroutine waits for a socket, so the test would hang until the time limit of go test.
func refuseSockets(tb TB) {
	tb.Helper()
	if inBubble() {
		tb.Fatalf("curatortest: in a bubble of testing/synctest only a server of Start with Virtual works: a socket stops the bubble's clock")
	}
}
