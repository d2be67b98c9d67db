package queue_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/zkconn"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/tools/curatortest"
	"github.com/go-curator/curator/tracing"
)

// The network goes away before an item is settled. When the session is over the outcome is known, without
// the end of the outage: the item is another consumer's.
func TestSettlementInAnOutage(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		metrics := suite.NewMetrics()
		f := newFixture(t, b, true)
		client, network := b.Client(t, framework.WithTracing(metrics.Option()))
		begun, goOn := make(chan struct{}, 2), make(chan struct{})
		f.consume(f.queue(client).Consume, func(context.Context, message) error {
			begun <- struct{}{}
			<-goOn
			return nil
		})
		f.put("x")
		<-begun
		heal := network.Isolate()
		close(goOn)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if points := strings.Join(metrics.Points(t), "\n"); !strings.Contains(points, "outcome="+tracing.OutcomeLost) {
			t.Errorf("the outcome is not known:\n%s", points)
		}
		heal()
		<-begun // again
		time.Sleep(time.Second)
		if items, held := f.items(), f.lockNodes(); len(items)+len(held) > 0 {
			t.Errorf("items %q and locks %q are left", items, held)
		}
	})
}

// A consumer that ends while requests fail does not log that it goes on.
func TestEndOfFailingConsumer(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		var log suite.Log
		f := newFixture(t, b, true)
		client, _ := b.Client(t, framework.WithLogger(log.Warnings()))
		begun, goOn := make(chan struct{}), make(chan struct{})
		c := f.consume(f.queue(client, queue.WithConcurrency(2)).Consume, func(context.Context, message) error {
			close(begun)
			<-goOn
			return nil
		})
		f.put("x")
		<-begun
		b.Server().Inject(curatortest.Rule{Op: "create", SessionID: client.SessionID(), Times: 1000, Do: curatortest.Fail(framework.ErrBadArguments)})
		f.put("y")
		time.Sleep(time.Minute)
		c.cancel()
		close(goOn)
		<-c.ended
		synctest.Wait()
		if text := log.String(); !strings.Contains(text, "consuming fails") || strings.Contains(text, "consuming goes on") {
			t.Error(text)
		}
	})
}

// The Close of the client ends the pause of a consumer whose lists are refused, and its error says so.
func TestCloseInThePauseOfAList(t *testing.T) {
	suite.Virtual(t, func(t *testing.T, b *suite.Backend) {
		f := newFixture(t, b, false)
		client, _ := b.Client(t)
		suite.OK(t, client.BlockUntilConnected(t.Context()))
		b.Server().Inject(curatortest.Rule{Op: "getChildren", SessionID: client.SessionID(), Times: 100_000, Do: curatortest.Fail(zkconn.ErrThrottled)})
		c := f.consume(f.queue(client).Consume, nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		begun := time.Now()
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-c.ended
		suite.WantErr(t, c.err, framework.ErrClosed)
		c.err = nil // it is as it must be
		if took := time.Since(begun); took > 100*time.Millisecond {
			t.Errorf("Consume ended %v after Close", took)
		}
	})
}
