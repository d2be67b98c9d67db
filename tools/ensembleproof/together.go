package main

import (
	"context"
	"sync"
)

// together calls do for all items at the same time, and waits for all calls. It returns the first
// error, after which the ctx of the other calls ends.
func together[T any](ctx context.Context, items []T, do func(ctx context.Context, i int, item T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var once sync.Once
	var first error
	for i, item := range items {
		group.Go(func() {
			if err := do(ctx, i, item); err != nil {
				once.Do(func() {
					first = err
					cancel(err)
				})
			}
		})
	}
	group.Wait()
	return first
}
