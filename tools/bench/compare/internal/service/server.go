// Package service starts the services that the benchmark's peers use, each in a temporary
// directory and on a free port of the loopback interface. They have their default settings, so
// acknowledged writes are on the disk.
//
// The caller must stop each server with Close. On Linux a server ends with this process at the latest.
// If a service is not installed, the error is an [installed.AbsentError].
package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/process"
)

// startTimeout bounds the time until a server serves, and stopTimeout the time until it has ended
// after it was asked to.
const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
	lookPause    = 50 * time.Millisecond
)

// Server is a running service.
type Server struct {
	address string
	dir     string
	ports   *process.Ports
	process *process.Process
	stop    os.Signal
	closed  sync.Once
	err     error // the result of Close
}

// Address returns the server's address, as host:port.
func (s *Server) Address() string { return s.address }

// Close stops the server and removes its data. It can be called more than once.
func (s *Server) Close() error {
	s.closed.Do(func() {
		s.process.Stop(s.stop, stopTimeout)
		s.err = errors.Join(s.ports.Release(), os.RemoveAll(s.dir))
	})
	return s.err
}

// plan describes how to start a service.
type plan struct {
	ports int // the number of ports that it needs; it serves on the first
	// prepare creates the files that the service needs in the empty directory dir; it may be nil.
	prepare func(ctx context.Context, dir string) error
	command func(ctx context.Context, dir string, ports []int) *exec.Cmd
	// serves returns nil when the server at the port serves.
	serves func(ctx context.Context, port int) error
	stop   os.Signal // asks the service to end even if clients are connected
}

// start starts a service and waits until it serves.
func (p plan) start(ctx context.Context) (_ *Server, err error) {
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if p.prepare != nil {
		if err := p.prepare(ctx, dir); err != nil {
			return nil, err
		}
	}
	ports, err := process.ReservePorts(p.ports)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ports.Release())
		}
	}()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	cmd := p.command(context.WithoutCancel(ctx), dir, ports.Numbers()) // ctx bounds only the start
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	running, err := process.Start(cmd)
	closeErr := log.Close() // the process has its own descriptor
	if err != nil {
		return nil, errors.Join(err, closeErr)
	}
	if err := errors.Join(closeErr, p.await(ctx, running, ports.Numbers()[0])); err != nil {
		running.Stop(p.stop, stopTimeout)
		said, readErr := os.ReadFile(log.Name())
		return nil, errors.Join(fmt.Errorf("%v: %w\n%s", cmd.Args, err, said), readErr)
	}
	return &Server{address: address(ports.Numbers()[0]), dir: dir, ports: ports, process: running, stop: p.stop}, nil
}

// await waits until the server serves.
func (p plan) await(ctx context.Context, running *process.Process, port int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(lookPause)
	defer ticker.Stop()
	for {
		err := p.serves(ctx, port)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-running.Ended():
			return fmt.Errorf("the server has ended: %w", running.Wait())
		case <-ctx.Done():
			return fmt.Errorf("the server does not serve: %w: %w", context.Cause(ctx), err)
		}
	}
}

// address returns the loopback address with a port.
func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
