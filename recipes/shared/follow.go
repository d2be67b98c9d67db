package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/recipes/internal/lifecycle"
)

// readPause is the time between a read that failed and the next one. The client's retry policy
// has waited before that.
const readPause = time.Second

// begin reads the value for the first time, and creates the node if there is none.
func (v *Value[T]) begin(ctx context.Context) error {
	there, err := v.read(ctx)
	for err == nil && !there && !v.cfg.noCreate {
		// The create may be repeated: if it was applied, or another process was quicker, the
		// node's value counts.
		_, err = v.creation().Idempotent().WithData(v.seed).ForPath(ctx, v.path)
		if err == nil || errors.Is(err, framework.ErrNodeExists) {
			there, err = v.read(ctx)
		}
	}
	if err != nil {
		if !v.cfg.background { // else another try uses it, or Close removes it
			ctx, cancel := lifecycle.CleanUp(ctx)
			defer cancel()
			v.unwatch(ctx)
		}
		return err
	}
	close(v.loaded)
	return nil
}

// creation starts the creation of the node.
func (v *Value[T]) creation() framework.CreateBuilder {
	return v.client.Create().CreatingParentContainersIfNeeded().Uncompressed()
}

// follow reads the value whenever it may have changed, until life ends or the client does.
func (v *Value[T]) follow(life context.Context) {
	again := time.NewTimer(readPause)
	again.Stop()
	defer again.Stop()
	failing := false
	for {
		select {
		case <-v.wake:
		case <-again.C:
		case <-life.Done():
			return
		}
		again.Stop()
		_, err := v.read(life)
		if err != nil && (life.Err() != nil || errors.Is(err, framework.ErrClosed)) {
			return
		}
		if failing != (err != nil) {
			failing = err != nil
			v.log(err)
		}
		if err != nil && !errors.Is(err, codec.ErrDecode) { // otherwise the watch is set
			again.Reset(readPause)
		}
	}
}

// read reads the value, and sets the watch on the node or on its absence. there reports whether
// there is a node.
func (v *Value[T]) read(ctx context.Context) (there bool, err error) {
	for {
		var stat framework.Stat
		epoch := v.api.Epoch()
		data, err := v.view.GetData().Undecompressed().StoringStatIn(&stat).UsingWatcher(v.watcher).ForPath(ctx, v.path)
		if err == nil {
			return true, v.decode(data, stat, epoch)
		}
		if !errors.Is(err, framework.ErrNoNode) {
			return false, err
		}
		there, err := v.view.CheckExists().UsingWatcher(v.watcher).ForPath(ctx, v.path)
		if err != nil || !there {
			return false, err
		}
	}
}

// decode takes over what was read.
func (v *Value[T]) decode(data []byte, stat framework.Stat, epoch int64) error {
	if !v.latest.Load().isNewer(epoch, stat.Mzxid) {
		return nil // it is known, or older than what is known
	}
	value, err := v.codec.Decode(data)
	if err != nil {
		return fmt.Errorf("%w: %w", codec.ErrDecode, err)
	}
	v.take(value, stat, epoch)
	return nil
}

// log tells that the value cannot be read any more, or for a nil err that it can again.
func (v *Value[T]) log(err error) {
	now := v.VersionedValue()
	v.api.Log(func() {
		if err == nil {
			v.client.Logger().Info("shared value read again", "path", v.path, "version", now.Version)
			return
		}
		v.client.Logger().Warn("shared value not read; the last one stays", "path", v.path, "version", now.Version, "error", err)
	})
}
