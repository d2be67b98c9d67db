package queue_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/process"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/wait"
	"github.com/go-curator/curator/recipes/queue"
	"github.com/go-curator/curator/retry"
)

// consumerVariable has the connect string and the root of the queues for a process that consumes.
const consumerVariable = "QUEUE_TEST_CONSUMER"

// The queues of the processes, below their root.
const (
	onceQueue    = "/once"
	leastQueue   = "/least"
	guardedQueue = "/guarded"
	queueLocks   = "-locks"
	effects      = "/effects"
)

// consumerMain is a process that consumes until it is killed, and prints what is handed over.
func consumerMain() error {
	var connect, root string
	if _, err := fmt.Sscan(os.Getenv(consumerVariable), &connect, &root); err != nil {
		return err
	}
	ctx := context.Background()
	client, err := framework.NewClient(connect, retry.ExponentialBackoff(10*time.Millisecond, 5),
		framework.WithSessionTimeout(suite.SessionTimeout), framework.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for path, work := range map[string]func(ctx context.Context, m message) error{
		onceQueue:  func(ctx context.Context, _ message) error { return wait.For(ctx, workTime) },
		leastQueue: func(ctx context.Context, _ message) error { return wait.For(ctx, workTime) },
		guardedQueue: func(ctx context.Context, m message) error {
			if err := wait.For(ctx, workTime); err != nil {
				return err
			}
			_, err := m.Guard(ctx, client.TransactionOp().Create().WithMode(framework.PersistentSequential).ForPath(root+effects+"/"+m.Item+"-"))
			return err
		},
	} {
		q, err := processQueue(client, root, path)
		if err != nil {
			return err
		}
		group.Go(func() error {
			return q.Consume(ctx, func(ctx context.Context, m message) error {
				fmt.Println(path, m.Item, "begun")
				if err := work(ctx, m); err != nil {
					return err
				}
				fmt.Println(path, m.Item, "done")
				return nil
			})
		})
	}
	return group.Wait()
}

func processQueue(client *framework.Client, root, path string) (*queue.DistributedQueue[string], error) {
	opts := []queue.Option{queue.WithConcurrency(3)}
	if path != onceQueue {
		opts = append(opts, queue.WithLockPath(root+path+queueLocks))
	}
	return queue.NewDistributedQueue(client, root+path, codec.String(), opts...)
}

// workTime is what an item takes.
const workTime = 20 * time.Millisecond

// tally is what the processes have printed: how often each line was.
type tally struct {
	mu    sync.Mutex
	lines map[string]int
}

func (c *tally) read(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		c.mu.Lock()
		c.lines[lines.Text()]++
		c.mu.Unlock()
	}
}

// count returns how many items were printed with a word, and how many more than once.
func (c *tally) count(path, word string) (items, twice int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line, n := range c.lines {
		if words := strings.Fields(line); len(words) == 3 && words[0] == path && words[2] == word {
			items++
			if n > 1 {
				twice++
			}
		}
	}
	return items, twice
}

// startConsumer starts a process.
func startConsumer(t *testing.T, b *suite.Backend, root string, lines *tally) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), consumerVariable+"="+b.ConnectString()+" "+root)
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, os.Stderr
	p, err := process.Start(cmd)
	in.Close()
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		lines.read(out)
	}()
	kill = sync.OnceFunc(func() {
		p.Kill()
		<-read
		out.Close()
	})
	t.Cleanup(kill)
	return kill
}

// Consumers are killed with SIGKILL again and again while they work. With a lock path nothing is
// lost; a guarded effect happens once for each item; without a lock path nothing is handed over
// twice.
func TestKilledConsumers(t *testing.T) {
	t.Parallel()
	b := suite.Real(t)
	root := b.Path("killed")
	client, _ := b.Client(t)
	for _, path := range []string{onceQueue, leastQueue, guardedQueue, effects} {
		suite.Got(client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), root+path)).OK(t)
	}
	const rounds, items = 8, 250
	putters := new(errgroup.Group)
	for _, path := range []string{onceQueue, leastQueue, guardedQueue} {
		q := suite.Got(processQueue(client, root, path)).OK(t)
		putters.Go(func() error {
			for i := range items {
				if err := q.Put(t.Context(), fmt.Sprint(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	suite.OK(t, putters.Wait())
	lines := &tally{lines: map[string]int{}}
	kills := make([]func(), 2)
	for i := range kills {
		kills[i] = startConsumer(t, b, root, lines)
	}
	for round := range rounds {
		before, _ := lines.count(leastQueue, "begun")
		suite.Eventually(t, "work", func() bool { now, _ := lines.count(leastQueue, "begun"); return now >= min(before+15, items) })
		victim := round % len(kills)
		kills[victim]()
		kills[victim] = startConsumer(t, b, root, lines)
	}
	names := func(path string) []string {
		names := suite.Got(client.GetChildren().ForPath(t.Context(), root+path)).OK(t)
		return names
	}
	suite.Eventually(t, "empty queues", func() bool {
		return len(names(onceQueue))+len(names(leastQueue))+len(names(guardedQueue)) == 0
	})
	for _, kill := range kills {
		kill()
	}
	once, twice := lines.count(onceQueue, "begun")
	if twice > 0 || once == 0 {
		t.Errorf("at most once: %d items, %d of them twice", once, twice)
	}
	_, again := lines.count(leastQueue, "begun")
	t.Logf("of %d items each: at most once lost %d, at least once began %d again", items, items-once, again)
	done, _ := lines.count(leastQueue, "done")
	if done != items {
		t.Errorf("at least once: %d items of %d", done, items)
	}
	happened := map[string]int{}
	for _, name := range names(effects) {
		happened[name[:strings.LastIndexByte(name, '-')]]++
	}
	if len(happened) != items || slices.ContainsFunc(slices.Collect(maps.Values(happened)), func(n int) bool { return n != 1 }) {
		t.Errorf("guarded effects of %d items, want one for each of %d: %v", len(happened), items, happened)
	}
}
