// Package scenario has what the tests need that tools/programs writes into its copies of other programs: a
// server, links to it that can be broken, and a judge of how many clients lead at a time.
//
// It knows nothing of a ZooKeeper client: the programs bring their own. It is for those tests only, and can
// change with every commit.
package scenario

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// ServerVariable is the variable of the environment that selects the server of [Start]: [Embedded], which is
// the default, or [Real].
const ServerVariable = "CURATOR_PROGRAMS_SERVER"

// The values of ServerVariable.
const (
	Embedded = "embedded"
	Real     = "real"
)

// Tick is the tick of the servers. So a session can be as short as a second.
const Tick = 500 * time.Millisecond

// TB is the part of testing.TB that is needed.
type TB = curatortest.TB

// Server is the server of a test. The test's own client is connected to it directly, those of the program
// are connected by links.
type Server struct {
	curatortest.ZooKeeper
	tb     TB
	client *framework.Client
}

// Start starts the server that ServerVariable selects, and stops it at the end of the test.
func Start(tb TB) *Server {
	tb.Helper()
	s := &Server{tb: tb}
	switch name := os.Getenv(ServerVariable); name {
	case "", Embedded:
		s.ZooKeeper = curatortest.Start(tb, curatortest.WithTickTime(Tick))
	case Real:
		s.ZooKeeper = curatortest.Real(tb, curatortest.WithTickTime(Tick))
	default:
		tb.Fatalf("%s is %q, not %s or %s", ServerVariable, name, Embedded, Real)
		return nil
	}
	s.client = s.Client(tb)
	return s
}

// patience bounds each call of the test's own client.
const patience = 30 * time.Second

// Link returns a new link to the server, which ends with the test.
func (s *Server) Link() *Link {
	s.tb.Helper()
	l, err := newLink(s.ConnectString())
	if err != nil {
		s.tb.Fatalf("a link: %v", err)
		return nil
	}
	s.tb.Cleanup(l.close)
	return l
}

// Create creates a node, with its parents.
func (s *Server) Create(path, data string) {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := s.client.Create().CreatingParentsIfNeeded().Idempotent().WithData([]byte(data)).ForPath(ctx, path)
	if err != nil {
		s.tb.Fatalf("create %s: %v", path, err)
	}
}

// Delete deletes a node, if it is there.
func (s *Server) Delete(path string) {
	s.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.client.Delete().Quietly().ForPath(ctx, path); err != nil {
		s.tb.Fatalf("delete %s: %v", path, err)
	}
}

// Children returns the names of the children of a node, and none if the node is not there or cannot be read.
func (s *Server) Children(path string) []string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	children, err := s.client.GetChildren().ForPath(ctx, path)
	if err != nil {
		return nil
	}
	return children
}

// pause is the time between two looks of Within.
const pause = 10 * time.Millisecond

// Within fails the test unless ok returns true within d. What says what is waited for.
func Within(tb TB, d time.Duration, what string, ok func() bool) {
	tb.Helper()
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for end := time.Now().Add(d); ; <-ticker.C {
		if ok() {
			return
		}
		if !time.Now().Before(end) {
			tb.Fatalf("not within %v: %s", d, what)
			return
		}
	}
}

// Measured begins the lines of a test's log that belong into the report of tools/programs.
const Measured = "measured: "

// Leaders measures for how long more than one client has believed at the same time that it leads. Its
// methods can be called by several goroutines.
type Leaders struct {
	mu    sync.Mutex
	count int
	since time.Time // the time of the second Begin, while count is above 1
	total time.Duration
}

// Begin is called as soon as a client believes that it leads.
func (l *Leaders) Begin() {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count++; l.count == 2 {
		l.since = now
	}
}

// End is called as soon as a client no longer believes that it leads.
func (l *Leaders) End() {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count--; l.count == 1 {
		l.total += now.Sub(l.since)
	}
}

// Count returns the number of clients that believe that they lead.
func (l *Leaders) Count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Overlap returns for how long, in sum, there was more than one leader until now.
func (l *Leaders) Overlap() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count > 1 {
		return l.total + time.Since(l.since)
	}
	return l.total
}
