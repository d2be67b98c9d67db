// Package lifecycle keeps the rules of framework.Component in one place: what Start and Close of
// a recipe may be called when, and who joins the recipe's goroutine.
//
// A recipe has a [Lifecycle] as a field. Its Start and Close say only what is theirs:
//
//	func (c *Cache) Start(ctx context.Context) error {
//		return c.life.Start(ctx, c.load, c.follow)
//	}
//
//	func (c *Cache) Close(ctx context.Context) error {
//		return c.life.Close(ctx, c.removeWatches)
//	}
package lifecycle
