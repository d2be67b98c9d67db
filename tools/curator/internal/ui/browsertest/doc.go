// Package browsertest drives the page of curator ui in a real browser, headless Chromium. It is a
// module of its own, so that nobody who uses Curator needs what drives a browser. Its tests need
// Chromium: without one they fail where CI=true, and are skipped elsewhere.
package browsertest
