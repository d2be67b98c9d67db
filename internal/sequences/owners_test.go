package sequences_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/recipes/discovery"
	"github.com/go-curator/curator/recipes/leader"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/recipes/nodes"
	"github.com/go-curator/curator/recipes/queue"
)

func newNode(r *run) subject {
	n, err := nodes.NewPersistentNode(r.client, "/node", framework.Ephemeral, []byte("data"))
	r.ok(err)
	var changed int64
	return subject{
		start:  n.Start,
		close:  n.Close,
		call:   func(ctx context.Context) error { return n.SetData(ctx, []byte("call")) },
		panics: func(ctx context.Context) { _ = n.SetData(ctx, []byte(boom)) },
		event: func(int) {
			if !r.other.delete("/node") { // it is about to be made again
				r.other.create("/node", "another's", 0)
			}
		},
		change: func(int) {
			r.other.delete("/node")
			changed = r.other.zxid
		},
		told: func(int) string {
			if stat, ok := r.other.stat("/node"); ok && stat.Czxid > changed {
				return ""
			}
			return "the node was not made again"
		},
	}
}

// newNumberedNode returns a kept node that gets another name with each Start.
func newNumberedNode(r *run) subject {
	n, err := nodes.NewPersistentNode(r.client, "/numbered", framework.EphemeralSequential, nil, nodes.WithProtection())
	r.ok(err)
	remove := func() {
		if path := n.ActualPath(); path != "" {
			r.other.delete(path)
		}
	}
	var changed int64
	return subject{
		start:  n.Start,
		close:  n.Close,
		call:   func(ctx context.Context) error { return n.SetData(ctx, []byte("call")) },
		panics: func(ctx context.Context) { _ = n.SetData(ctx, []byte(boom)) },
		event:  func(int) { remove() },
		change: func(int) {
			remove()
			changed = r.other.zxid
		},
		told: func(int) string {
			if path := n.ActualPath(); path != "" {
				if stat, ok := r.other.stat(path); ok && stat.Czxid > changed {
					return ""
				}
			}
			return "the node was not made again"
		},
	}
}

func newMember(r *run) subject {
	r.other.create("/group", "", 0)
	m, err := nodes.NewGroupMember(r.client, "/group", "own", []byte("payload"))
	r.ok(err)
	return subject{
		start: m.Start,
		close: m.Close,
		call:  func(ctx context.Context) error { return m.SetPayload(ctx, []byte("call")) },
		panics: func(ctx context.Context) {
			for range m.Updates(ctx) {
				panic(boom)
			}
		},
		event:  func(n int) { r.other.create(fmt.Sprintf("/group/event-%d", n), "", 0) },
		change: func(n int) { r.other.create(fmt.Sprintf("/group/change-%d", n), "", 0) },
		told: func(n int) string {
			all := m.Members()
			_, changed := all[fmt.Sprintf("change-%d", n)]
			if _, there := r.other.stat("/group/own"); changed && there {
				return ""
			}
			return fmt.Sprintf("the members are %q, or the own node is missing", all)
		},
	}
}

// item returns the data of an item of a queue, as Java writes it.
func item(text string) string {
	data := append(binary.BigEndian.AppendUint32(nil, 0x00010001), 1)
	data = binary.BigEndian.AppendUint32(data, uint32(len(text)))
	return string(append(append(data, text...), 2))
}

func newQueue(r *run) subject {
	r.other.create("/queue", "", 0)
	q, err := queue.NewDistributedQueue(r.client, "/queue", codec.String(), queue.WithLockPath("/locks"))
	r.ok(err)
	p, err := queue.NewDistributedQueue(r.client, "/queue", codec.Codec[string](panicky{codec.String()}))
	r.ok(err)
	var mu sync.Mutex
	consumed := map[string]bool{}
	ctx, stop := context.WithCancel(context.WithoutCancel(r.ctx))
	ended := make(chan error, 1)
	consume := func() {
		ended <- q.Consume(ctx, func(_ context.Context, m queue.Message[string]) error {
			mu.Lock()
			defer mu.Unlock()
			consumed[m.Item] = true
			return nil
		})
	}
	put := func(text string) { r.other.create("/queue/queue-", item(text), jute.FlagSequential) }
	return subject{
		start: func(context.Context) error {
			go consume()
			return nil
		},
		close: func(context.Context) error {
			stop()
			return <-ended
		},
		call:   func(ctx context.Context) error { return q.Put(ctx, "call") },
		panics: func(ctx context.Context) { _ = p.Put(ctx, "") },
		event:  func(n int) { put(fmt.Sprintf("event %d", n)) },
		change: func(n int) { put(fmt.Sprintf("change %d", n)) },
		told: func(n int) string {
			mu.Lock()
			defer mu.Unlock()
			if consumed[fmt.Sprintf("change %d", n)] {
				return ""
			}
			return fmt.Sprintf("the items are %v", consumed)
		},
	}
}

func newDiscovery(r *run) subject {
	serializer := discovery.JSON[string]()
	d, err := discovery.NewServiceDiscovery(r.client, "/services", serializer)
	r.ok(err)
	_, err = d.Register(r.ctx, discovery.ServiceInstance[string]{Name: "service", ID: "own", Address: "host"})
	r.ok(err) // Start carries it out
	p, err := d.Provider("service", discovery.ProviderConfig[string]{})
	r.ok(err)
	r.other.create("/services", "", 0)
	r.other.create("/services/service", "", 0)
	registered := false
	register := func(id string) {
		data, err := serializer.Encode(discovery.ServiceInstance[string]{Name: "service", ID: id, Address: "host"})
		r.ok(err)
		r.other.create("/services/service/"+id, string(data), 0)
	}
	return subject{
		start: func(ctx context.Context) error {
			if !registered {
				if err := d.Start(ctx); err != nil {
					return err
				}
				registered = true
			}
			return p.Start(ctx)
		},
		close: d.Close,
		call: func(ctx context.Context) error {
			return d.Update(ctx, discovery.ServiceInstance[string]{Name: "service", ID: "own", Address: "another host"})
		},
		panics: func(context.Context) {
			_, _ = p.Choose(func(discovery.ServiceInstance[string]) bool { panic(boom) })
		},
		event:  func(n int) { register(fmt.Sprintf("event-%d", n)) },
		change: func(n int) { register(fmt.Sprintf("change-%d", n)) },
		told: func(n int) string {
			var ids []string
			for _, i := range p.Instances() {
				ids = append(ids, i.ID)
			}
			if slices.Contains(ids, "own") && slices.Contains(ids, fmt.Sprintf("change-%d", n)) {
				return ""
			}
			return fmt.Sprintf("the instances are %q", ids)
		},
	}
}

// newLatchBehind returns a latch behind another participant, which goes with the first change.
func newLatchBehind(r *run) subject {
	r.other.create("/latch", "", 0)
	return latch(r, r.other.create("/latch/_c_00000000-0000-0000-0000-000000000000-latch-", "rival", jute.FlagSequential))
}

// newLatch returns a latch that leads.
func newLatch(r *run) subject {
	r.other.create("/latch", "", 0)
	return latch(r, "")
}

// latch returns a latch behind a rival, if that is the path of a node.
func latch(r *run, rival string) subject {
	l, err := leader.NewLeaderLatch(r.client, "/latch")
	r.ok(err)
	depose := func() {
		for _, path := range r.other.ephemerals("/latch") {
			r.other.delete(path)
		}
	}
	var before *locks.Lease
	return subject{
		start: l.Start,
		close: l.Close,
		call: func(ctx context.Context) error {
			_, err := l.Participants(ctx)
			return err
		},
		panics: func(ctx context.Context) { _, _ = l.Participants(ctx) }, // if the retry policy is asked
		event:  func(int) { depose() },
		change: func(int) {
			if before = l.Leadership(); rival == "" {
				depose()
				return
			}
			r.other.delete(rival)
			rival = ""
		},
		told: func(int) string {
			switch now := l.Leadership(); {
			case now.Err() != nil:
				return fmt.Sprintf("it does not lead: %v", now.Err())
			case now == before:
				return "it leads on"
			}
			return ""
		},
		lost: func() string {
			if l.Leadership().Err() == nil {
				return "a call has failed with its connection, and the latch leads on"
			}
			return ""
		},
	}
}
