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
		Long: `Runs the embedded ZooKeeper server until SIGINT or SIGTERM, and then exits with
0. It is the server that "curator lock --embedded" starts if none runs. It is
for development on one machine: it is not part of an ensemble and stores nothing
on a disk, so its locks and data are lost when it ends.

It prints one line when it is ready. It exits with 69 if it cannot listen.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("curator server takes no arguments, got %q", args[0])
			}
			if given := p.settings.Given(); len(given) > 0 {
				return usage("curator server does not take %s: it is a server itself", given[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return p.serve(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "listen at `ADDR`, host:port; port 0 is any free port")
	return cmd
}

// serve runs a server until a signal asks this process to end.
func (p *program) serve(ctx context.Context, address string) error {
	if err := checkListen(address); err != nil {
		return err
	}
	sigs := listenSignals()
	defer sigs.stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return exitWith(exitUnavailable, "cannot listen at %s: the address is in use", address)
	case errors.Is(err, fs.ErrPermission):
		return exitWith(exitForbidden, "cannot listen at %s: not permitted", address)
	case err != nil:
		return exitWith(exitUnavailable, "cannot listen: %v", err)
	}
	if bound := listener.Addr().String(); !isLoopback(bound) {
		p.notes.say("%s can be reached from other machines, and the embedded server accepts every client", bound)
	}
	defer listener.Close()
	if _, err := fmt.Fprintf(p.stdout, "%s embedded ZooKeeper server; %s\n", listener.Addr(), keepsNothing); err != nil {
		return err // run reports the error of stdout
	}
	_, err = sigs.until(ctx, func(ctx context.Context) error { return serveUntil(ctx, newServer(p.notes), listener) })
	return err
}

// serveUntil serves until ctx ends.
func serveUntil(ctx context.Context, server *zkserver.Server, listener net.Listener) error {
	closed := make(chan struct{})
	context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = server.Close() // its error is always nil
	})
	if err := server.Serve(listener); !errors.Is(err, zkserver.ErrServerClosed) {
		return err
	}
	<-closed // Close returns when all connections have ended
	return nil
}

// checkListen returns an error unless address is host:port with a number as the port.
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
