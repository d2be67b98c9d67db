package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/go-curator/curator/internal/zkserver"
	"github.com/go-curator/curator/tools/curator/internal/settings"
)

func (p *program) serverCommand() *cobra.Command {
	listen := settings.DefaultConnect
	cmd := &cobra.Command{
		Use:   "server [--listen ADDR]",
		Short: "Run the embedded ZooKeeper server, for development",
		Long: `Runs the embedded ZooKeeper server until SIGINT or SIGTERM: the same that
"curator lock --embedded" starts when none runs. It is for development on one
machine: it has no disk and no ensemble, and its locks and data end with it.

It prints one line when it serves, and exits with 0; with 69 if it cannot
listen.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("curator server takes no arguments, got %q", args[0])
			}
			if given := p.settings.Given(); len(given) > 0 {
				return usage("curator server takes no %s: it is an ensemble of its own", given[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "the address `ADDR` to listen at, host:port; with port 0 a free one")
	return cmd
}

// serve runs a server until a signal asks us to end.
func (p *program) serve(ctx context.Context, address string) error {
	if err := checkListen(address); err != nil {
		return err
	}
	sigs := listenSignals()
	defer sigs.stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return exitWith(exitUnavailable, "cannot listen at %s: something else does", address)
	case errors.Is(err, fs.ErrPermission):
		return exitWith(exitForbidden, "cannot listen at %s: not permitted", address)
	case err != nil:
		return exitWith(exitUnavailable, "cannot listen: %v", err)
	}
	if bound := listener.Addr().String(); !isLoopback(bound) {
		p.notes.say("%s can be reached from other machines, and the embedded server lets everybody in", bound)
	}
	defer listener.Close()
	if _, err := fmt.Fprintf(p.stdout, "%s embedded ZooKeeper server; %s\n", listener.Addr(), keepsNothing); err != nil {
		return err // which run tells
	}
	_, err = sigs.until(ctx, func(ctx context.Context) error { return serveUntil(ctx, newServer(p.notes), listener) })
	return err
}

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, server *zkserver.Server, listener net.Listener) error {
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = server.Close() // it has no error to tell
	})
	if err := server.Serve(listener); !errors.Is(err, zkserver.ErrServerClosed) {
		return err
	}
	<-closed // when every connection has ended
	return nil
}

// checkListen refuses what is not an address.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usage("--listen %q is not host:port", address)
	}
	return nil
}
