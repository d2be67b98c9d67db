package main

import (
	"context"

	"github.com/go-curator/curator/tools/bench/internal/measure"
)

// reader is a session that reads a node again and again.
type reader interface {
	// read returns a lock whose Acquire reads the node at path, which is there.
	read(path string) lock
}

// burster is a session that reads a node many times in one write: what the server can do.
type burster interface {
	// burst returns a lock whose Acquire reads the node at path n times, in one write.
	burst(path string, n int) lock
}

// throughput has goroutines of one client read one node. An operation is one read.
func throughput(ctx context.Context, l *local, w workload, _ string, t timing) (measure.Run, error) {
	sessions, err := l.connect(ctx, 1)
	if err != nil {
		return measure.Run{}, err
	}
	const node = "/zookeeper" // every server has it
	switch s := sessions[0].(type) {
	case burster:
		run, err := l.cycles(ctx, []lock{s.burst(node, w.waiters)}, t)
		run.Operations *= w.waiters
		return run, err
	case reader:
		locks := make([]lock, w.waiters)
		for i := range locks {
			locks[i] = s.read(node)
		}
		return l.cycles(ctx, locks, t)
	}
	return measure.Run{}, errUnsupported
}

// reads is a lock whose Acquire reads.
type reads func(ctx context.Context) error

func (r reads) Acquire(ctx context.Context) (lease, error) { return nothing{}, r(ctx) }

func (s *driverSession) read(path string) lock {
	return reads(func(context.Context) error {
		_, _, err := s.conn.Get(path)
		return err
	})
}

func (s *curatorSession) read(path string) lock {
	return reads(func(ctx context.Context) error {
		_, err := s.client.GetData().ForPath(ctx, path)
		return err
	})
}
