package interop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curatortest"
)

// contender is a client, of either language, that wants the test's lock.
type contender interface {
	// session returns the client's session.
	session() int64
	// acquire waits for the lock in the background; the answer is the lock's node.
	acquire() *answer
	// leave has acquire give up.
	leave()
	// try waits a while for the lock, and returns the lock's node, or "" without it.
	try(wait time.Duration) string
	release()
	participants() []string
	// increment adds one to the number in the node counter, rounds times, each time
	// under the lock.
	increment(counter string, rounds int) *answer
}

// goContender uses this module.
type goContender struct {
	e       *env
	client  *framework.Client
	network *suite.Network
	mutex   *locks.InterProcessMutex
	lease   *locks.Lease // once the answer of acquire is there
	cancel  context.CancelFunc
}

// newGo returns a contender with a client of its own.
func (e *env) newGo() *goContender {
	e.t.Helper()
	client, network := e.b.Client(e.t)
	c := e.goWith(client)
	c.network = network
	return c
}

// newPlainGo returns a contender whose client has the default data.
func (e *env) newPlainGo() *goContender {
	e.t.Helper()
	return e.goWith(curatortest.NewClient(e.t, e.b.ConnectString(),
		framework.WithSessionTimeout(suite.LongSession), framework.WithLogger(slog.New(slog.DiscardHandler))))
}

func (e *env) goWith(client *framework.Client) *goContender {
	e.t.Helper()
	mutex, err := locks.NewInterProcessMutex(client, e.path)
	if err != nil {
		e.t.Fatal(err)
	}
	if err := client.BlockUntilConnected(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	return &goContender{e: e, client: client, mutex: mutex}
}

func (c *goContender) session() int64 { return c.client.SessionID() }

func (c *goContender) acquire() *answer {
	a := newAnswer()
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(c.e.t.Context())
	go func() {
		lease, err := c.mutex.Acquire(ctx)
		c.lease = lease
		a.give(lease.Path(), err)
	}()
	c.e.t.Cleanup(func() { <-a.done })
	return a
}

func (c *goContender) leave() { c.cancel() }

func (c *goContender) try(wait time.Duration) string {
	c.e.t.Helper()
	acquire := c.mutex.TryAcquire
	if wait > 0 {
		mutex, err := locks.NewInterProcessMutex(c.client, c.e.path, locks.WithMaxWait(wait))
		if err != nil {
			c.e.t.Fatal(err)
		}
		acquire = mutex.Acquire
	}
	lease, err := acquire(c.e.t.Context())
	if err != nil && !errors.Is(err, locks.ErrNotAcquired) {
		c.e.t.Fatal(err)
	}
	c.lease = lease
	return lease.Path()
}

func (c *goContender) release() {
	c.e.t.Helper()
	if err := c.lease.Release(c.e.t.Context()); err != nil {
		c.e.t.Fatal(err)
	}
}

func (c *goContender) participants() []string {
	c.e.t.Helper()
	nodes, err := c.mutex.ParticipantNodes(c.e.t.Context())
	if err != nil {
		c.e.t.Fatal(err)
	}
	return nodes
}

func (c *goContender) increment(counter string, rounds int) *answer {
	a := newAnswer()
	go func() {
		var err error
		for i := 0; i < rounds && err == nil; i++ {
			err = locks.Do(c.e.t.Context(), c.mutex, func(ctx context.Context, _ *locks.Lease) error {
				data, err := c.client.GetData().ForPath(ctx, counter)
				if err != nil {
					return err
				}
				n, err := strconv.Atoi(string(data))
				if err != nil {
					return err
				}
				_, err = c.client.SetData().ForPath(ctx, counter, []byte(strconv.Itoa(n+1)))
				return err
			})
		}
		a.give("", err)
	}()
	c.e.t.Cleanup(func() { <-a.done })
	return a
}

// javaContender is a peer in a JVM.
type javaContender struct {
	e    *env
	jvm  *jvm
	name string
	id   int64 // the session
}

var peers atomic.Int64

// newJava returns a contender with a client of its own in the JVM.
func (e *env) newJava(j *jvm) *javaContender {
	e.t.Helper()
	return e.newJavaNamed(j, fmt.Sprintf("peer-%d", peers.Add(1)))
}

// newJavaAt is newJava in the shared JVM, for another server than the JVM's, or for a relay.
func (e *env) newJavaAt(connectString string) *javaContender {
	e.t.Helper()
	return e.newJavaNamed(e.jvm, fmt.Sprintf("peer-%d@%s", peers.Add(1), connectString))
}

func (e *env) newJavaNamed(j *jvm, name string) *javaContender {
	e.t.Helper()
	c := &javaContender{e: e, jvm: j, name: name}
	e.t.Cleanup(func() {
		select {
		case <-j.ended: // the test has killed it
		default:
			c.do("close")
		}
	})
	id, err := strconv.ParseInt(c.do("session"), 10, 64)
	if err != nil {
		e.t.Fatal(err)
	}
	c.id = id
	return c
}

// do asks for something that must succeed.
func (c *javaContender) do(words ...any) string {
	c.e.t.Helper()
	return c.e.wait(c.jvm.request(c.name, words...))
}

func (c *javaContender) session() int64 { return c.id }

func (c *javaContender) acquire() *answer { return c.jvm.request(c.name, "acquire", c.e.path) }

func (c *javaContender) leave() { c.do("interrupt") }

func (c *javaContender) try(wait time.Duration) string {
	c.e.t.Helper()
	return c.do("try", c.e.path, wait.Milliseconds())
}

func (c *javaContender) release() {
	c.e.t.Helper()
	c.do("release", c.e.path)
}

func (c *javaContender) participants() []string {
	c.e.t.Helper()
	return strings.Fields(c.do("participants", c.e.path))
}

func (c *javaContender) increment(counter string, rounds int) *answer {
	return c.jvm.request(c.name, "increment", c.e.path, counter, rounds)
}
