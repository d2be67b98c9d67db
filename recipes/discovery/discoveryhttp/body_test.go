package discoveryhttp_test

import (
	"io"
	"strings"
	"sync"
)

// countedBody is a request's body that counts how often it was opened and closed.
type countedBody struct {
	text   string
	reader io.Reader
	shared *bodyCounts
	done   bool
}

type bodyCounts struct {
	mu             sync.Mutex
	opened, closed int
}

func newBody(text string) *countedBody {
	return &countedBody{text: text, reader: strings.NewReader(text), shared: &bodyCounts{opened: 1}}
}

// again is for http.Request.GetBody.
func (b *countedBody) again() (io.ReadCloser, error) {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	b.shared.opened++
	return &countedBody{text: b.text, reader: strings.NewReader(b.text), shared: b.shared}, nil
}

func (b *countedBody) Read(p []byte) (int, error) { return b.reader.Read(p) }

func (b *countedBody) Close() error {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	if !b.done {
		b.done = true
		b.shared.closed++
	}
	return nil
}

func (b *countedBody) counts() (opened, closed int) {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	return b.shared.opened, b.shared.closed
}
