package main

import (
	"context"
	"errors"
	"net"
	"sync"

	"github.com/go-curator/curator/tools/curator/internal/demo"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curator/internal/ui/follow"
)

// showStoryOnPage serves the page of curator ui for the fleet, and plays the story repeatedly until
// ctx ends.
func (p *program) showStoryOnPage(ctx context.Context, fleet *demo.Fleet) error {
	listener, err := p.listenForPage(ctx, &uiFlags{listen: "127.0.0.1:0"}, ui.Config{})
	if err != nil {
		return err
	}
	defer listener.Close()
	ctx, cancel := context.WithCancel(ctx)
	var told error
	var wg sync.WaitGroup
	wg.Go(func() {
		for told == nil {
			told = fleet.Play(ctx)
		}
		cancel()
	})
	served := p.servePage(ctx, ui.Config{
		Config: follow.Config{
			Client: fleet.Client(), Root: "/", Servers: []string{fleet.ConnectString()},
			Dial: func(ctx context.Context, address string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			},
			Actions: true, // they can do no harm: the server stores nothing
		},
		Secret: ui.NewSecret(),
	}, listener, true)
	cancel()
	wg.Wait()
	if errors.Is(told, context.Canceled) {
		told = nil
	}
	return errors.Join(served, told)
}
