package listen_test

import (
	"context"
	"fmt"

	"github.com/go-curator/curator/framework/listen"
)

// A recipe owns the set, and hands out its Listenable.
func ExampleSet() {
	var leadership listen.Set[string]

	remove := leadership.Listenable().Add(func(ctx context.Context, event string) {
		fmt.Println("leader:", event)
	})
	defer remove()

	leadership.Notify("host-1")
	leadership.Notify("host-2")

	if err := leadership.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// leader: host-1
	// leader: host-2
}

func ExampleListenable_Add() {
	var states listen.Set[string]

	var remove func()
	remove = states.Listenable().Add(func(ctx context.Context, event string) {
		fmt.Println("once:", event)
		remove() // may be called from the listener
	})
	states.Notify("CONNECTED")
	states.Notify("SUSPENDED")

	if err := states.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: once: CONNECTED
}
