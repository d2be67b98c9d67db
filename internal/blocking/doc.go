// Package blocking has tests of every exported call that can wait: how it ends when its client is closed.
// They also show how a Start in the background goes on until servers come, and how Close ends it, that recipes
// go on when servers have lost their data, and that nothing refers to a component that is closed. It has no code
// of its own. A new call with a context, an iterator or a Close must be added to the table, or to the list of
// those that do not wait.
package blocking
