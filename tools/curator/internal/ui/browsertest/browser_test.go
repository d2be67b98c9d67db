package browsertest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience bounds every wait for the page. It is long because the machine may be busy.
const patience = 40 * time.Second

// chromium is the browser that all tests share. The first test that needs it starts it.
var chromium struct {
	once sync.Once
	ctx  context.Context
	end  func()
	err  error
}

func TestMain(m *testing.M) {
	// The tests wait most of the time. A number on the command line overrides this one.
	if err := flag.Set("test.parallel", "4"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if chromium.end != nil {
		chromium.end()
	}
	os.Exit(code)
}

// findChromium returns the path of the browser, "" if it is not installed.
func findChromium() string {
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

func startChromium(path string) {
	dir, err := os.MkdirTemp("", "curator-browser-")
	if err != nil {
		chromium.err = err
		return
	}
	opts := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck, chromedp.DisableGPU, chromedp.WSURLReadTimeout(patience),
	}
	for _, flag := range []string{
		"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-extensions",
		"disable-dev-shm-usage", "hide-scrollbars", "mute-audio",
		// A hidden page closes its stream, so only the tests themselves may hide a page.
		"disable-renderer-backgrounding", "disable-backgrounding-occluded-windows",
	} {
		opts = append(opts, chromedp.Flag(flag, true))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(allocator)
	chromium.ctx = ctx
	chromium.end = func() {
		cancel()
		stop()
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	chromium.err = chromedp.Do(ctx)
}

// missing ends a test because a program is missing. With CI=true the test fails, otherwise it is
// skipped.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal("there is no " + what)
	}
	t.Skip("there is no " + what)
}

// tab is a tab of the browser.
type tab struct {
	t      *testing.T
	ctx    context.Context
	mu     sync.Mutex
	errors []string
}

// newTab opens an empty page of a size. The test fails if the page has an error until its end.
func newTab(t *testing.T, width, height int64) *tab {
	t.Helper()
	path := findChromium()
	if path == "" {
		missing(t, "Chromium: apt-get install chromium")
	}
	chromium.once.Do(func() { startChromium(path) })
	if chromium.err != nil {
		t.Fatal(chromium.err)
	}
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // the context of the first call must not have a deadline
		t.Fatal(err)
	}
	b.run(chromedp.EmulateViewport(width, height))
	if err := chromedp.Listen(ctx, b.onEvent); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, text := range b.errors {
			t.Errorf("an error in the page: %s", text)
		}
	})
	return b
}

// onEvent records errors of the page.
func (b *tab) onEvent(event any) {
	if e, ok := event.(*runtime.EventExceptionThrown); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		text, err := json.Marshal(e.ExceptionDetails)
		if err != nil {
			text = []byte(err.Error())
		}
		b.errors = append(b.errors, string(text))
	}
}

// run runs actions in the page.
func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v; the page has: %s", err, b.text())
	}
}

// text returns the text that the page shows.
func (b *tab) text() string {
	ctx, cancel := context.WithTimeout(b.ctx, time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// eval returns the value of an expression.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v; the page has: %s", expression, err, b.text())
	}
	return value
}

// until waits until an expression is true. It is evaluated with every frame that the page draws.
func (b *tab) until(expression string) {
	b.t.Helper()
	eval[bool](b, "new Promise((done) => { const look = () => { if ("+expression+") done(true); else requestAnimationFrame(look); }; look(); })")
}

// untilText waits until the page shows a text.
func (b *tab) untilText(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// scheme chooses light or dark.
func (b *tab) scheme(name string) {
	b.t.Helper()
	b.run(func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return none, err
	})
}

// picture writes a picture of the page into the directory that CURATOR_UI_PICTURES names.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("CURATOR_UI_PICTURES")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// goTo opens an address.
func (b *tab) goTo(address string) {
	b.t.Helper()
	b.run(chromedp.Navigate(address))
}

// show opens a view of the page, which must be open.
func (b *tab) show(view string) {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("location.hash = '#/' + %q", view)))
	b.until(`document.querySelector('main h1') !== null`)
}
