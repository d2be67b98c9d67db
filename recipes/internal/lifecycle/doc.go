// Package lifecycle implements the rules of framework.Component: when Start and Close of a
// recipe may be called, and which call joins the recipe's goroutine.
//
// A recipe has a [Lifecycle] as a field. Its Start and Close only pass their own functions:
//
//	func (c *Cache) Start(ctx context.Context) error {
//		return c.life.Start(ctx, c.load, c.follow)
//	}
//
//	func (c *Cache) Close(ctx context.Context) error {
//		return c.life.Close(ctx, c.removeWatches)
//	}
//
// For an option WithStartInBackground its constructor calls [Lifecycle.InBackground]. Then Start does
// not wait, and the functions are the same.
package lifecycle
