package sequences_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/tools/curatortest"
)

const (
	// timeout is that of the session. A server that falls silent is given up after two thirds of it.
	timeout = 30 * time.Second
	// patience is how long a request waits for a connection. It is longer than a change may take: the connection
	// must end the wait.
	patience = 3 * time.Second
	// between is the time behind each step. It is longer than the first pauses of the components between two tries,
	// and shorter than the time for which a connection is read that takes nothing any more.
	between = 100 * time.Millisecond
	// within is how soon a change is told.
	within = time.Second
	// bound is how long Close may take when the server falls silent: until it is given up, and 5 s without a
	// connection, and what an ended context still has.
	bound = timeout*2/3 + 5*time.Second + 3*time.Second
	// ended is how long it may take when its context has ended.
	ended = 3 * time.Second
	// maxStarts is how often Start may fail: because its context has ended, and because the retry policy has given up.
	maxStarts = 2
)

// component is one of those that are tested.
type component struct {
	name string
	make func(r *run) subject
	// refused says that a request fails at once that is made on a connection which is known to take nothing any
	// more. Requests of other components wait for the next one.
	refused bool
}

// subject is a component, and what is done with it.
type subject struct {
	start  func(ctx context.Context) error
	close  func(ctx context.Context) error
	call   func(ctx context.Context) error // a call of a user
	panics func(ctx context.Context)       // a call in which a user's function panics
	event  func(n int)                     // a change of which a watch of the component tells
	change func(n int)                     // a change that the component must tell
	told   func(n int) string              // what is missing, "" if the change was told
	lost   func() string                   // what is wrong when a call has failed with its connection, or ""
}

// run is one sequence on one component.
type run struct {
	*testing.T
	component
	sequence []Step
	server   *curatortest.Server
	other    *other
	line     *line
	client   *framework.Client
	conn     *zkconn.Conn
	record   *record
	subject

	ctx     context.Context // of the calls
	cancel  context.CancelFunc
	calls   atomic.Int32 // that have not returned
	events  int
	plugged int  // how many requests waited when the line was plugged; 0 if it is not
	broken  bool // the line is
	tries   int  // how often Start has failed

	starting, closing, ending chan error // of Start, Close, and the client's Close
}

func (r *run) fail(format string, args ...any) {
	r.Helper()
	r.Errorf("%s, %s: %s", r.name, text(r.sequence), fmt.Sprintf(format, args...))
}

// moment is when a sequence begins.
type moment bool

const (
	whenStarted   moment = false // Start has returned
	whileStarting moment = true  // Start has sent its first request
)

// try runs a sequence on a component.
func try(t *testing.T, c component, when moment, sequence []Step) {
	synctest.Test(t, func(t *testing.T) {
		r := &run{T: t, component: c, sequence: sequence}
		r.connected()
		if when == whenStarted {
			r.ok(r.start(r.ctx))
			settle()
		}
		r.line.hold()
		if when == whileStarting {
			ctx := r.ctx
			r.starting = began(func() error { return r.start(ctx) })
			settle()
		}
		for i := range sequence {
			r.step(i)
			settle()
		}
		r.end()
	})
}

// settle gives everything the time behind a step.
func settle() {
	time.Sleep(between)
	synctest.Wait()
}

// began runs a call that may wait.
func began(call func() error) chan error {
	result := make(chan error, 1)
	go func() { result <- call() }()
	return result
}

// connected makes the client, its record and the component.
func (r *run) connected() {
	r.server = curatortest.Start(r.T, curatortest.Virtual(), curatortest.WithTickTime(timeout),
		curatortest.WithSessionTimeouts(time.Second, time.Hour), curatortest.WithContainerCheckInterval(24*time.Hour))
	r.other = newOther(r.T, r.server)
	r.line = newLine(r.server.DialContext)
	client, err := framework.NewClient(r.server.ConnectString(), policy{},
		framework.WithDialer(r.line.Dial), framework.WithoutEnsembleTracker(), framework.WithSessionTimeout(timeout),
		framework.WithConnectionTimeout(patience), framework.WithLogger(slog.New(slog.DiscardHandler)),
		framework.WithSchemaSet(r.panickySchemas()))
	r.ok(err)
	r.client = client
	r.ok(client.Start(r.Context()))
	r.Cleanup(func() { // if the run was ended by a failure
		r.line.heal()
		_ = client.Close(context.WithoutCancel(r.Context()))
	})
	r.ok(client.BlockUntilConnected(r.Context()))
	r.conn, err = zkclient.Of(client).Conn()
	r.ok(err)
	r.record = &record{}
	r.record.observe(r.conn)
	r.ok(r.conn.Subscribe(r.Context(), r.record.watch))
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(r.Context()))
	r.subject = r.make(r)
	r.record.lost = r.lost
}

func (r *run) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// await waits for something that comes by itself.
func (r *run) await(what string, ok func() bool) {
	r.Helper()
	for begin := time.Now(); !ok(); {
		if time.Since(begin) > bound {
			r.fail("waited in vain for %s", what)
			return
		}
		time.Sleep(between / 5)
		synctest.Wait()
	}
}
