package framework

import (
	"fmt"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/retry"
)

// NewClient returns a client that has not been started; it does no I/O.
//
// connectString is a list of host:port with an optional chroot,
// "zk1:2181,zk2:2181,zk3:2181/app". The default port is 2181. The chroot comes once, at the end.
// Its node must exist: without it operations return ErrNoNode. The ensemble's configuration may
// replace the list, see WithoutEnsembleTracker; with WithEnsembleProvider there is no list.
//
// retryPolicy must not be nil; retry.None() never retries. A duration between zero and a
// millisecond, in retryPolicy or in an option, is refused with ErrInvalidOption, because it is
// nearly always a number of milliseconds from Java.
//
// Java: CuratorFrameworkFactory.newClient.
func NewClient(connectString string, retryPolicy retry.Policy, opts ...Option) (*Client, error) {
	cfg, err := newConfig(retryPolicy, opts)
	if err != nil {
		return nil, err
	}
	servers, chroot, err := parseConnectString(connectString, cfg.provider != nil)
	if err != nil {
		return nil, err
	}
	prefix, err := zkclient.NamespacePrefix(cfg.namespace)
	if err != nil {
		return nil, err
	}
	cfg.client.Spec, cfg.client.View = specOf, viewWith
	core := newCore(cfg, servers, chroot, prefix)
	return &Client{handle: zkclient.NewHandle(core.in), core: core, namespace: cfg.namespace}, nil
}

// specOf returns what a builder of the client describes.
func specOf(in *zkclient.Client, builder any) (zkclient.NodeSpec, error) {
	b, _ := builder.(CreateBuilder)
	if b.c.inside() != in {
		return zkclient.NodeSpec{}, fmt.Errorf("%w: the builder is another client's", ErrInvalidBuilder)
	}
	if err := b.p.check(); err != nil {
		return zkclient.NodeSpec{}, err
	}
	spec := b.p.spec("")
	if b.p.stat != nil {
		spec.Made = func(stat jute.Stat) { storeStat(b.p.stat, stat) }
	}
	return spec, nil
}
