package discoveryhttp

import (
	"io"
	"net/http"
	"sync"
)

// closeBody closes the body of a request that was not sent.
func closeBody(request *http.Request) {
	if request.Body != nil {
		_ = request.Body.Close() // net/http ignores it, too
	}
}

// bodies are those of the attempts for one request.
type bodies struct {
	request *http.Request
	held    *heldBody // the last attempt's, of a request with a body and no GetBody
}

// first returns the body of the first attempt.
func (b *bodies) first() io.ReadCloser {
	if b.repeatable() {
		return b.request.Body
	}
	b.held = &heldBody{body: b.request.Body}
	return b.held
}

// again returns the body of another attempt, if there can be one.
func (b *bodies) again() (body io.ReadCloser, ok bool, err error) {
	switch {
	case b.held != nil:
		if b.held, ok = b.held.handOver(); !ok {
			return nil, false, nil
		}
		return b.held, true, nil
	case b.empty():
		return b.request.Body, true, nil
	default:
		body, err = b.request.GetBody()
		return body, err == nil, err
	}
}

func (b *bodies) empty() bool { return b.request.Body == nil || b.request.Body == http.NoBody }

// repeatable tells whether there is a body for any number of attempts.
func (b *bodies) repeatable() bool { return b.empty() || b.request.GetBody != nil }

// failed tells whether reading the body has failed.
func (b *bodies) failed() bool {
	if b.held == nil {
		return false
	}
	failed, _ := b.held.fate()
	return failed
}

// awaited tells whether the last attempt waited for more of the body when it ended.
func (b *bodies) awaited() bool {
	if b.held == nil {
		return false
	}
	_, awaited := b.held.fate()
	return awaited
}

// release is called when there is no attempt after the last one.
func (b *bodies) release() {
	if b.held != nil {
		b.held.release()
	}
}

// heldBody is a body that can be read once. Close does not close it before it was read. So it can
// be handed over to another attempt until somebody begins to read it.
type heldBody struct {
	body io.ReadCloser

	mu      sync.Mutex
	state   bodyState
	closed  bool // Close was called; of a body that is held it waits for release
	failed  bool // a Read has, and not because of Close
	reading int  // how many Reads have not returned
	awaited bool // Close has ended a Read
}

type bodyState int

const (
	bodyHeld   bodyState = iota // not read; there may be another attempt
	bodyInUse                   // read, or there is no other attempt: Close closes the body
	bodyHanded                  // another attempt has it
)

// Read reads the body unless another attempt has it.
func (b *heldBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.state == bodyHanded || b.closed {
		b.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	b.state = bodyInUse
	b.reading++
	b.mu.Unlock()
	n, err := b.body.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading--
	if err != nil && err != io.EOF && !b.closed {
		b.failed = true
	}
	return n, err
}

// Close closes the body if it was read, and else leaves that to release.
func (b *heldBody) Close() error {
	b.mu.Lock()
	b.closed = true
	b.awaited = b.awaited || b.reading > 0
	inUse := b.state == bodyInUse
	b.mu.Unlock()
	if !inUse {
		return nil
	}
	return b.body.Close()
}

// fate tells whether reading the body has failed, and whether a Read waits for more of it, or did
// until Close.
func (b *heldBody) fate() (failed, awaited bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed, b.awaited || b.reading > 0
}

// handOver returns the body for another attempt, unless somebody has begun to read it.
func (b *heldBody) handOver() (*heldBody, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != bodyHeld {
		return b, false
	}
	b.state = bodyHanded
	return &heldBody{body: b.body}, true
}

// release has Close close the body from now on, also if it was called before.
func (b *heldBody) release() {
	b.mu.Lock()
	wasHeld := b.state == bodyHeld
	if wasHeld {
		b.state = bodyInUse
	}
	late := wasHeld && b.closed
	b.mu.Unlock()
	if late {
		_ = b.body.Close() // net/http ignores it, too
	}
}
