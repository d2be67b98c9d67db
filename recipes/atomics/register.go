package atomics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
)

// rememberFor is how long a written value is assumed to be the present one, unless a change of
// another client is noticed. A set names a version, and no node: if the node is deleted and created
// again, a change can replace the new node's value, for as long as the old one's is remembered, and
// while the change is on its way. Values at version 0, which a new node begins with, are not
// remembered, so that the new node must have been written as often as the old one. The reply to such a
// change is of another node: see replaced. What the servers had before they lost their data is not
// remembered.
const rememberFor = 10 * time.Second

// register is bytes in a node that are changed by compare and set. The zero register can do
// nothing.
type register struct {
	client *framework.Client
	api    *zkclient.Client
	path   string
	policy retry.Policy
	cfg    config

	mu   sync.Mutex
	last remembered
}

// content is what a node has. The zero content is that of a node that does not exist.
type content struct {
	there   bool
	data    []byte
	version int32
	node    identity
}

// identity tells the nodes of one path apart. The time is a part of it because servers that have lost their
// data give the same zxids again.
type identity struct{ czxid, ctime int64 }

func identityOf(stat *framework.Stat) identity { return identity{stat.Czxid, stat.Ctime.UnixMilli()} }

// remembered is what was written last; until is zero for nothing.
type remembered struct {
	content
	zxid  int64
	epoch int64 // of the servers' data, which the zxid is of
	until time.Time
}

func (r *register) init(client *framework.Client, path string, policy retry.Policy, opts []Option) error {
	if _, err := zkclient.Of(client).ServerPath(path); err != nil {
		return err
	}
	if err := retry.Validate(policy); err != nil {
		return err
	}
	client, cfg, err := newConfig(client, opts)
	if err != nil {
		return err
	}
	r.client, r.api, r.path, r.policy, r.cfg = client, zkclient.Of(client), path, policy, cfg
	return nil
}

// check returns why the register cannot be used, nil if it can.
func (r *register) check(ctx context.Context) error {
	switch {
	case r == nil || r.client == nil:
		return fmt.Errorf("atomic value: %w", framework.ErrNotStarted)
	case ctx == nil:
		return zkclient.ErrNilContext
	}
	return nil
}

// read returns what the server has.
func (r *register) read(ctx context.Context) (content, error) {
	var stat framework.Stat
	data, err := r.client.GetData().Undecompressed().StoringStatIn(&stat).ForPath(ctx, r.path)
	if errors.Is(err, framework.ErrNoNode) {
		return content{}, nil
	}
	if err != nil {
		return content{}, err
	}
	return content{there: true, data: data, version: stat.Version, node: identityOf(&stat)}, nil
}

// errConflict is returned by one try when the node is not as expected.
var errConflict = fmt.Errorf("%w", ErrContended)

// write replaces pre by data. The error is errConflict if the node is not as in pre.
func (r *register) write(ctx context.Context, pre content, data []byte) error {
	var now framework.Stat
	var err error
	epoch := r.api.Epoch()
	switch {
	case !pre.there:
		now, err = r.create(ctx, data)
	case pre.version == -1: // to the server it would be any version
		return fmt.Errorf("atomic value %s: %w: the node was written too often", r.path, framework.ErrBadVersion)
	default:
		stat, failed := r.api.SetData(ctx, r.path, data, pre.version)
		now, err = zkclient.UserStat[framework.Stat](&stat), failed
	}
	if err != nil {
		r.forget()
		if zkclient.Conflict(err) {
			return errConflict
		}
		return err
	}
	if pre.there && identityOf(&now) != pre.node {
		r.replaced()
		return nil
	}
	r.remember(data, now, epoch)
	return nil
}

// replaced takes note that a change has replaced the value of another node than it was meant for.
func (r *register) replaced() {
	r.forget()
	r.api.Log(func() {
		r.client.Logger().Warn("atomic value: the node was deleted and created again while it was in use, and a change of the old value has replaced the new one",
			"path", r.path)
	})
}

func (r *register) create(ctx context.Context, data []byte) (stat framework.Stat, err error) {
	_, err = r.client.Create().CreatingParentContainersIfNeeded().Uncompressed().WithData(data).
		StoringStatIn(&stat).ForPath(ctx, r.path)
	return stat, err
}

// compareAndSet replaces data that is expected.
func (r *register) compareAndSet(ctx context.Context, expected func(data []byte) (bool, error), data []byte) (bool, error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	pre, err := r.read(ctx)
	if err != nil || !pre.there {
		return false, err
	}
	if ok, err := expected(pre.data); err != nil || !ok {
		return false, err
	}
	err = r.write(ctx, pre, data)
	if errors.Is(err, errConflict) {
		return false, nil
	}
	return err == nil, err
}

// forceSet replaces whatever there is.
func (r *register) forceSet(ctx context.Context, data []byte) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	for {
		epoch := r.api.Epoch()
		now, err := r.client.SetData().Uncompressed().ForPath(ctx, r.path, data)
		if errors.Is(err, framework.ErrNoNode) {
			now, err = r.create(ctx, data)
		}
		if errors.Is(err, framework.ErrNodeExists) {
			continue // another client has created it meanwhile
		}
		if err != nil {
			r.forget()
			return err
		}
		r.remember(data, now, epoch)
		return nil
	}
}

// initialize creates the node.
func (r *register) initialize(ctx context.Context, data []byte) (created bool, err error) {
	if err := r.check(ctx); err != nil {
		return false, err
	}
	epoch := r.api.Epoch()
	now, err := r.create(ctx, data)
	if errors.Is(err, framework.ErrNodeExists) {
		return false, nil
	}
	if err == nil {
		r.remember(data, now, epoch)
	}
	return err == nil, err
}

// remember keeps what was written, unless a later write is kept already, or the version is one that every
// new node has. epoch is that of before the request. What is kept of lost data is not later.
func (r *register) remember(data []byte, now framework.Stat, epoch int64) {
	present := r.api.Epoch()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.last.epoch == epoch && !r.last.until.IsZero() && now.Mzxid <= r.last.zxid:
	case now.Version == 0, epoch != present:
		r.last = remembered{}
	default:
		r.last = remembered{content{true, bytes.Clone(data), now.Version, identityOf(&now)}, now.Mzxid, epoch, time.Now().Add(rememberFor)}
	}
}

// forget has the next change read the node.
func (r *register) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = remembered{}
}

// recall returns what was written last, if that was not long ago, and the servers still have it.
func (r *register) recall() (pre content, ok bool) {
	epoch := r.api.Epoch()
	r.mu.Lock()
	defer r.mu.Unlock()
	pre = r.last.content
	pre.data = bytes.Clone(pre.data) // the caller of Update gets it
	return pre, r.last.epoch == epoch && time.Now().Before(r.last.until)
}
