package chaos

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/internal/verify/chaos/check"
	"github.com/go-curator/curator/internal/verify/chaos/worker"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/wait"
)

// lockPaths returns the nodes below which contenders have theirs.
func (r *run) lockPaths() (paths []string) {
	for _, w := range r.Workloads {
		switch w {
		case worker.Barrier, worker.Cache:
		case worker.Multi:
			paths = append(paths, root+"/multi-a", root+"/multi-b")
		case worker.Queue:
			paths = append(paths, root+"/"+w+"-locks")
		case worker.JavaLeases:
			paths = append(paths, root+"/"+w+"/"+layout.LeasesDir, root+"/"+w+"/"+layout.LocksDir)
		default:
			paths = append(paths, root+"/"+w)
		}
	}
	return paths
}

// children returns the names of a node's children, none if it is missing.
func (r *run) children(ctx context.Context, path string) ([]string, error) {
	names, err := r.operator.GetChildren().ForPath(ctx, path)
	if errors.Is(err, framework.ErrNoNode) {
		return nil, nil
	}
	return names, err
}

// effects returns how many effects each item of the queue has had.
func (r *run) effects(ctx context.Context) (map[string]int, error) {
	effects := map[string]int{}
	for i := range worker.EffectFolders {
		names, err := r.children(ctx, fmt.Sprintf("%s%s/%d", root, worker.EffectsNode, i))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			effects[name[:strings.LastIndexByte(name, '-')]]++
		}
	}
	return effects, nil
}

// drained tells whether every one of the items has had its effect.
func (r *run) drained(ctx context.Context, stored []string) bool {
	effects, err := r.effects(ctx)
	return err == nil && !slices.ContainsFunc(stored, func(item string) bool { return effects[item] == 0 })
}

// inspect finds out what registers and queue have, and notes what is left that should not be.
func (r *run) inspect(ctx context.Context, judged *check.Run) (err error) {
	ctx, cancel := context.WithTimeout(ctx, r.Slack)
	defer cancel()
	judged.Registers = map[string]string{}
	for key, text := range r.store.Texts() {
		judged.Registers["store "+key] = text
	}
	for _, name := range worker.GuardedRegisters() {
		node := root + worker.RegistersNode + "/" + name
		data, err := r.operator.GetData().ForPath(ctx, node)
		if err != nil {
			return err
		}
		judged.Registers["node "+node] = string(data)
	}
	if judged.Effects, err = r.effects(ctx); err != nil {
		return err
	}
	if judged.Items, err = r.items(ctx); err != nil {
		return err
	}
	return r.awaitNothingLeft(ctx)
}

// awaitNothingLeft waits until nothing is left, because the sessions of those that were killed end
// in their time, and notes what is left when ctx ends.
func (r *run) awaitNothingLeft(ctx context.Context) error {
	left, err := r.left(ctx)
	for (err != nil || len(left) > 0) && wait.For(ctx, 500*time.Millisecond) == nil {
		if now, e := r.left(ctx); e == nil || ctx.Err() == nil { // else the last look counts
			left, err = now, e
		}
	}
	for _, what := range left {
		e := failed("left over: %s", what.text)
		if what.differs {
			e.Process = "zookeeper"
		}
		r.recorder.note(e)
	}
	return err
}

// itemText is how workers name items.
var itemText = regexp.MustCompile(`go-\d+\.\d+-\d+`)

// items returns the items that are still in the queue.
func (r *run) items(ctx context.Context) (items []string, err error) {
	names, err := r.children(ctx, root+"/"+worker.Queue)
	for _, name := range names {
		data, err := r.operator.GetData().ForPath(ctx, root+"/"+worker.Queue+"/"+name)
		if err != nil {
			return nil, err
		}
		items = append(items, itemText.FindString(string(data)))
	}
	return items, err
}

// leftover is something that is left.
type leftover struct {
	text string
	// differs tells that one server has it and another one has not: servers whose data differ are no
	// fault of a client. ZooKeeper's issue ZOOKEEPER-4882 is one way to get there.
	differs bool
}

// left returns what is left on the servers when no worker runs any more: contenders and members,
// ephemeral nodes, watches.
func (r *run) left(ctx context.Context) (left []leftover, err error) {
	for _, path := range append(r.lockPaths(), root+"/"+worker.Barrier) {
		names, err := r.children(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if name != layout.ReadyName { // a round of the double barrier whose members all died; the next member removes it
				left = append(left, leftover{text: path + "/" + name})
			}
		}
	}
	var ephemerals []string
	for i, m := range r.servers.Members() {
		found, err := figures(ctx, m.ConnectString())
		if err != nil {
			return nil, err
		}
		if n := found["zk_watch_count"]; n != "0" {
			left = append(left, leftover{text: fmt.Sprintf("server %d has %s watches", i, n)})
		}
		ephemerals = append(ephemerals, found["zk_ephemerals_count"])
	}
	if same := slices.Compact(slices.Clone(ephemerals)); len(same) > 1 || same[0] != "0" {
		left = append(left, leftover{fmt.Sprintf("the servers have %s ephemeral nodes", strings.Join(ephemerals, ", ")), len(same) > 1})
	}
	return left, nil
}

// figures returns a server's own figures.
func figures(ctx context.Context, address string) (map[string]string, error) {
	answer, err := realservers.Ask(ctx, address, "mntr")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for line := range strings.Lines(string(answer)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found[name] = value
	}
	return found, nil
}
