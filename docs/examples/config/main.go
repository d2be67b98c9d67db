// Config follows its configuration, which is JSON in a node, while it runs.
//
//	go run ./config -connect 127.0.0.1:2181
//
// and in another terminal, from the top of the repository,
//
//	go run ./tools/curator create -p /config/limits '{"requestsPerSecond": 50}'
//	go run ./tools/curator set /config/limits '{"requestsPerSecond": 80}'
//
// Reading the configuration sends no request and does not wait, also while ZooKeeper cannot be
// reached. It may be a moment behind; use a lock or a transaction for data that must not be
// stale.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/cache"
	"github.com/go-curator/curator/retry"
)

// Limits is the configuration.
type Limits struct {
	RequestsPerSecond int `json:"requestsPerSecond"`
}

// settings has the configuration as it was last read.
type settings struct{ now atomic.Pointer[Limits] }

// newSettings returns settings with the defaults, for as long as there is no node.
func newSettings() *settings {
	s := &settings{}
	s.now.Store(&Limits{RequestsPerSecond: 10})
	return s
}

// limits may be called by any goroutine, for every request.
func (s *settings) limits() Limits { return *s.now.Load() }

// follow keeps the settings up to date until ctx ends. A value that cannot be read leaves them as
// they are.
func (s *settings) follow(ctx context.Context, node *cache.CuratorCache) {
	limits := codec.JSON[Limits]()
	for update := range node.Updates(ctx) {
		data, ok := update.Snapshot.Get(path)
		if !ok {
			continue
		}
		value, err := limits.Decode(data.Data)
		if err == nil && value.RequestsPerSecond <= 0 {
			err = errors.New("requestsPerSecond must be more than 0")
		}
		if err != nil {
			log.Printf("version %d of %s is not used: %v", data.Stat.Version, path, err)
			continue
		}
		s.now.Store(&value)
		log.Printf("version %d: %+v", data.Stat.Version, value)
	}
}

const path = "/config/limits"

func main() {
	connect := flag.String("connect", "127.0.0.1:2181", "the ZooKeeper servers, as `host:port,...`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *connect, newSettings()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, connect string, s *settings) (err error) {
	client, err := framework.NewClient(connect, retry.ExponentialBackoff(100*time.Millisecond, 5))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	node, err := cache.NewNodeCache(client, path)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return framework.Run(ctx, node) }) // from Start to Close
	g.Go(func() error {
		s.follow(ctx, node)
		return nil
	})
	return g.Wait()
}
