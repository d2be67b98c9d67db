// Package browsertest drives the page of curator ui in a real browser, headless Chromium. It is
// a module of its own, so users of Curator do not get its dependencies. Its tests need
// Chromium: without it they fail with CI=true, and are skipped otherwise.
package browsertest
