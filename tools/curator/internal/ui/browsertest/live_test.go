package browsertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/ui"
	"github.com/go-curator/curator/tools/curatortest"
)

// acquire acquires a mutex.
func (f *fleet) acquire(owner, path string) *locks.Lease {
	f.t.Helper()
	mutex, err := locks.NewInterProcessMutex(f.client(owner), path)
	if err != nil {
		f.t.Fatal(err)
	}
	lease, err := mutex.Acquire(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return lease
}

func (f *fleet) release(lease *locks.Lease) {
	f.t.Helper()
	if err := lease.Release(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// The page shows how a lock passes from a Go client to a Java client and back.
func TestLive(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	b := f.open(1280, 900, "recipes")
	b.untilText("There are no recipes below / now.")
	begun := time.Now()
	lease := f.acquire("orders-api", "/locks/orders")
	b.untilText("orders-api on ")
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("the lock was shown after %v", took)
	}
	java := newHolder(t, f.server.ConnectString(), "/locks/orders")
	b.show("recipe?path=/locks/orders")
	b.untilText("1 waits.")
	f.release(lease)
	java.until("held")
	address := eval[string](b, `document.querySelector('.lead strong').textContent`)
	b.until(`/^Held by [0-9.]+ for/.test(document.querySelector('.lead').textContent)`) // Java's owner is an address
	b.until(`document.querySelectorAll('table[aria-label^="Hand-overs"] tbody tr').length === 1`)
	b.until(`document.querySelector('table[aria-label^="Hand-overs"] tbody').innerText.includes('orders-api')`)
	if address == "" {
		t.Error("nobody held it")
	}
	b.show("recipes")
	b.until(`document.querySelector('tr.changed') === null`)
	java.release()
	java.until("released")
	b.untilText("free")
	b.show("history")
	b.until(`document.querySelectorAll('table[aria-label^="Hand-overs"] tbody tr').length === 2`)
	b.until(`document.querySelectorAll('svg rect.hold').length === 2`)
}

// Names and data with markup, or with characters that change the direction of text, are shown as
// text.
func TestHostile(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	evil := `<img src=x onerror="document.title='owned'">`
	f.create("evil", "/locks/a\u202eb<script>x/_c_5f3e0000-0000-4000-8000-000000000000-lock-", "10.0.0.1\nowner="+evil+"\nhost=\u202eevil", framework.EphemeralSequential)
	f.create("evil", "/groups/"+evil[:10]+"/"+strings.ReplaceAll(evil, "/", ""), evil, framework.Ephemeral)
	f.create("evil", "/tree/\u200b<b>&amp;", evil+"\x1b[2J\u202e\r\n</pre><script>document.title='owned'</script>", framework.Persistent)
	f.create("evil", "/tree/json", `{"a": "</script><script>document.title='owned'</script>", "__proto__": {"x": 1}}`, framework.Persistent)
	b := f.open(1280, 900, "recipes")
	b.untilText("Groups")
	b.untilText(evil)
	b.untilText(`a\u{202e}b<script>x`)
	b.show("tree?path=" + `/tree/%E2%80%8B%3Cb%3E%26amp;`)
	b.untilText(`\u{200b}<b>&amp;`)
	b.untilText(`\u{1b}[2J\u{202e}\u{d}`)
	b.show("tree?path=/tree/json")
	b.untilText("</script><script>")
	b.show("recipes?find=%3Cimg%20src=x%20onerror=alert(1)%3E")
	b.untilText("No recipe has “<img src=x onerror=alert(1)>” in its path")
	b.show("recipe?path=%3Cscript%3Edocument.title=1%3C/script%3E")
	b.untilText("<script>document.title=1</script>")
	if n := eval[int](b, `document.querySelectorAll('img, script:not([src]), b, iframe').length`); n != 0 {
		t.Errorf("%d elements of the data are in the page", n)
	}
	if title := eval[string](b, `document.title`); strings.HasPrefix(title, "owned") {
		t.Errorf("the title is %q", title)
	}
	// The content security policy prevents that text becomes code, even after a mistake in the page.
	for _, attempt := range []string{
		`(() => { const s = document.createElement('div'); try { s.innerHTML = '<b>x</b>'; } catch { return true; } return s.children.length === 0; })()`,
		`new Promise((done) => { const e = document.createElement('img'); e.onerror = () => done(true); e.onload = () => done(false); e.src = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='; })`,
		`fetch('http://127.0.0.1:9/').then(() => false, () => true)`,
	} {
		if !eval[bool](b, attempt) {
			t.Errorf("it is possible: %s", attempt)
		}
	}
}

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, key := range keys {
		b.run(chromedp.KeyEvent(key))
	}
}

// focused returns the text or the label of the element that has the focus.
func (b *tab) focused() string {
	return eval[string](b, `(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent || document.activeElement.id).trim()`)
}

// Everything can be reached and done by keyboard.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(cfg *ui.Config) { cfg.Actions = true })
	f.fill()
	b := f.open(1280, 900, "recipes")
	b.untilText("Counters")
	var order []string
	for range 9 {
		b.press(kb.Tab)
		order = append(order, b.focused())
	}
	if got := strings.Join(order, " > "); !strings.HasPrefix(got, "Skip to the contents > Curator > Recipes > History > Ensemble > Tree > All") {
		t.Errorf("the order of the focus is %s", got)
	}
	if outline := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); outline != "solid" {
		t.Errorf("the focus shows as %q", outline)
	}
	// A key press by the browser's protocol types its character even if the page has handled it.
	eval[bool](b, `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true }))`)
	b.until(`document.activeElement.id === 'filter'`)
	b.press("invoices")
	b.until(`document.querySelectorAll('main section').length === 1 && location.hash.includes('find=invoices')`)
	b.press(kb.Tab, kb.Enter) // the first recipe
	b.until(`location.hash === '#/recipe?path=/locks/orders'`)
	b.until(`document.activeElement.tagName === 'H1'`)
	b.press("2")
	b.until(`location.hash === '#/history'`)
	b.press("4")
	b.until(`location.hash === '#/tree'`)
	b.show("recipe?path=/locks/orders")
	b.untilText("Take it away…")
	for range 30 {
		if b.press(kb.Tab); strings.HasPrefix(b.focused(), "Take ") {
			break
		}
	}
	b.press(kb.Enter)
	b.until(`document.querySelector('dialog[open]') !== null`)
	b.press(kb.Escape)
	b.until(`document.querySelector('dialog') === null`) // its event has come, too
	if got := b.focused(); !strings.HasPrefix(got, "Take ") {
		t.Errorf("after the dialog the focus is at %q", got)
	}
	b.press(kb.Enter)
	b.until(`document.activeElement.id === 'who' || document.activeElement.tagName === 'BUTTON'`)
	b.run(chromedp.Focus(chromedp.CSS("#who")))
	b.press("ann", kb.Enter)
	b.untilText("Held by billing")
	if text := strings.Join(f.logged(), "\n"); !strings.Contains(text, `break of /locks/orders/`) || !strings.Contains(text, `by "ann"`) || !strings.Contains(text, ": done") {
		t.Errorf("the log is %q", text)
	}
}

func (f *fleet) logged() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string{}, f.log...)
}

// click clicks the first button with a text.
func (b *tab) click(text string) {
	b.t.Helper()
	b.until(fmt.Sprintf(`(() => { const e = [...document.querySelectorAll('button')].find((e) => e.textContent === %q); if (e) e.click(); return Boolean(e); })()`, text))
}

// Actions are confirmed, refused if the node has changed, and absent by default.
func TestActions(t *testing.T) {
	t.Parallel()
	f := newFleet(t, func(cfg *ui.Config) { cfg.Actions = true })
	first := f.contender("orders-api", "/locks/orders/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
	f.contender("billing", "/locks/orders/_c_5f3e0000-0000-4000-8000-000000000000-lock-")
	f.create("web", "/config/app", "old", framework.Persistent)
	b := f.open(1280, 900, "recipe?path=/locks/orders")
	b.click("Take it away…")
	b.until(`document.querySelector('dialog h2').textContent === 'Take /locks/orders away from orders-api on web-10, pid 1370?'`)
	b.untilText("it may work at the same time as the next holder")
	b.untilText("token " + eval[string](b, `document.querySelector('table[aria-label="Holders"] td:nth-child(3)').textContent`))
	b.click("Take it away")
	b.untilText("Give your name, which is logged")
	f.remove(first) // the holder releases the lock while the dialog is open
	b.run(chromedp.SendKeys(chromedp.CSS("#who"), "ann"))
	b.click("Take it away")
	b.untilText("the node was deleted, or is another one now")
	b.click("Cancel")
	b.untilText("Held by billing")
	b.click("Ask for it…")
	b.run(chromedp.SendKeys(chromedp.CSS("#who"), "ann"))
	b.click("Ask")
	b.untilText("asked to give it up")
	b.untilText("Held by billing") // the request has replaced the name in the node, but the page knows it
	b.show("tree?path=/config/app")
	b.click("Set data…")
	b.run(chromedp.SetValue(chromedp.CSS("#new-data"), "new ü"))
	b.click("Set")
	b.until(`document.querySelector('dialog[open]') === null && document.querySelector('.data').textContent === 'new ü'`)
	b.click("Delete…")
	b.click("Delete")
	b.untilText("There is no such node.")

	quiet := newFleet(t, nil)
	quiet.fill()
	b = quiet.open(1280, 900, "recipe?path=/locks/orders")
	b.untilText("Held by")
	b.show("tree?path=/config/app")
	b.untilText("Stat")
	if n := eval[int](b, `document.querySelectorAll('.buttons').length`); n != 0 {
		t.Errorf("%d groups of buttons", n)
	}
}

// When the ensemble or the page's server does not answer, or the browser was asleep, the page says so,
// and continues afterwards.
func TestFaults(t *testing.T) {
	t.Parallel()
	var cfg ui.Config
	f := newFleet(t, func(c *ui.Config) { cfg = *c })
	f.fill()
	b := f.open(1280, 900, "recipes")
	b.untilText("Counters")
	f.server.Stop()
	b.untilText("What is shown is as it was at")
	b.until(`document.querySelector('.dot.old').textContent === 'Old'`)
	b.show("ensemble")
	b.untilText("does not serve")
	f.server.Start()
	b.until(`document.querySelector('.dot.live') !== null && !document.body.innerText.includes('What is shown')`)
	b.show("recipes")
	f.server.ExpireSession(f.client("page").SessionID())
	f.create("web", "/groups/later/one", "", framework.Ephemeral)
	b.untilText("/groups/later")

	// A hidden page closes its stream.
	hide := func(hidden bool) {
		eval[bool](b, fmt.Sprintf(`(() => { Object.defineProperty(document, 'hidden', { value: %v, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); return true; })()`, hidden))
	}
	hide(true)
	f.create("web", "/groups/hidden/one", "", framework.Ephemeral)
	hide(false)
	b.untilText("/groups/hidden")

	address := strings.TrimSuffix(strings.TrimPrefix(f.address, "http://"), "/")
	f.stop()
	f.serve(cfg, address)
	b.untilText("Open the address that curator ui has printed, or type the secret of it.")
	b.run(chromedp.SendKeys(chromedp.CSS("#secret"), "wrong"))
	b.click("Sign in")
	b.untilText("This is not the secret.")
	b.run(chromedp.SetValue(chromedp.CSS("#secret"), f.secret))
	b.click("Sign in")
	b.untilText("Counters")
}

// JSON is indented unless it is nested deeply: then its lines would be much longer than it, and it is shown
// as text.
func TestJSON(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	b := f.open(1280, 900, "recipes")
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for name, tt := range map[string]struct {
		data, text string // text is what is shown; "" if the data is not shown as JSON
	}{
		"object":    {`{"serial":9007199254740993,"a":[],"b":[{"c":"}\"\\"},-1.50e3]}`, "{\n  \"serial\": 9007199254740993,\n  \"a\": [],\n  \"b\": [\n    {\n      \"c\": \"}\\\"\\\\\"\n    },\n    -1.50e3\n  ]\n}"},
		"spaces":    {"[\r\n 1 ,{ } ]\n", "[\n  1,\n  {}\n]"},
		"no-json":   {`{"a":1,}`, ""},
		"number":    {`12`, ""},
		"deep":      {nested(101), ""},
		"very-deep": {nested(30_000), ""},
		"wide-deep": {strings.Repeat("[", 99) + strings.Repeat("1,", 20_000) + "1" + strings.Repeat("]", 99), ""},
	} {
		f.create("page", "/json/"+name, tt.data, framework.Persistent)
		b.show("tree?path=/json/" + name)
		b.until(fmt.Sprintf(`document.querySelector('h1').innerText === %q && document.querySelector('pre.data') !== null`, name))
		want, pressed := tt.text, "JSON"
		if want == "" {
			want, pressed = tt.data, "Text"
		}
		if got := eval[string](b, `document.querySelector('pre.data').textContent`); got != want {
			t.Errorf("%s: %d bytes: %.200q, want %.200q", name, len(got), got, want)
		}
		if got := eval[string](b, `document.querySelector('.choices [aria-pressed=true]').innerText`); got != pressed {
			t.Errorf("%s: it is shown as %s, want %s", name, got, pressed)
		}
	}
}

// The ACL of a node whose data and Stat may not be read is shown.
func TestHidden(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil, curatortest.WithRelease("3.9.5"))
	b := f.open(1280, 900, "recipes")
	if _, err := f.client("page").Create().WithACL(framework.WorldACL(framework.PermAdmin)).ForPath(t.Context(), "/hidden"); err != nil {
		t.Fatal(err)
	}
	b.show("tree?path=/hidden")
	b.until(`document.querySelector('table[aria-label="ACL"]') !== null`)
	if got := eval[string](b, `document.querySelector('table[aria-label="ACL"] tbody').innerText`); !strings.Contains(got, "anyone") {
		t.Errorf("the ACL is %q", got)
	}
	if eval[bool](b, `[...document.querySelectorAll('h2')].some((e) => e.innerText === 'Stat')`) {
		t.Error("the Stat is shown")
	}
}
