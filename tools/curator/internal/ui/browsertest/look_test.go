package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// views returns all views, each with a text that it shows of the fleet.
func (f *fleet) views() map[string]string {
	return map[string]string{
		"recipes":                         "Counters",
		"recipes?kind=lock&find=orders":   "/locks/orders",
		"recipe?path=/locks/orders":       "Held by orders-api on web-10, pid 1370",
		"recipe?path=/locks/catalog":      "Held by 2 readers",
		"recipe?path=/limits/transcode":   "2 leases of 2 held. 1 waits.",
		"recipe?path=/leaders/scheduler":  "Led by scheduler-1",
		"recipe?path=/queues/mail":        "7 items, the first of them",
		"recipe?path=/barriers/release":   "Closed since",
		"recipe?path=/rounds/nightly":     "Filling: 2 members.",
		"recipe?path=/groups/workers":     "5 members.",
		"recipe?path=/services/web":       "10.0.0.12:8080",
		"recipe?path=/counters/orders":    "It is 1234567, 64 bits",
		"recipe?path=/not/there":          "There is no recipe at this path now.",
		"history":                         "Hand-overs, the newest first",
		"ensemble":                        "The server serves.",
		"tree":                            "zookeeper",
		"tree?path=/config/app":           `"serial": 9007199254740993`,
		"tree?path=/config/app&as=hex":    "000000  7b 22 6c 69",
		"tree?path=/queues/mail&find=006": "queue-0000000006",
		"tree?path=/&search=NIGHTLY":      "/rounds/nightly",
		fmt.Sprintf("session?id=0x%x", f.client("orders-api").SessionID()): "holds",
	}
}

// contrasts finds the texts whose contrast to their background is below 4.5.
const contrasts = `(() => {
  const rgb = (c) => (c.match(/[\d.]+/g) || []).map(Number);
  const light = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const e = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !e.getClientRects().length || e.tagName === 'title') continue;
    const style = getComputedStyle(e);
    let back = behind(e);
    let ink = rgb(style.color);
    if (e.tagName === 'text') {
      ink = rgb(style.fill);
      const rect = e.previousElementSibling;
      if (rect && rect.tagName === 'rect') back = rgb(getComputedStyle(rect).fill);
    }
    const r = ratio(ink.slice(0, 3), back.slice(0, 3));
    if (r < 4.5) bad.push(e.tagName + '.' + e.className + ' "' + walk.currentNode.data.slice(0, 30) + '" ' + r.toFixed(2));
  }
  return bad;
})()`

// TestViews checks each view, light and dark, wide and narrow: its text, its contrast, that nothing is
// cut off at the side, and its accessible names.
func TestViews(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	f.fill()
	for width, height := range map[int64]int64{1280: 900, 390: 844} {
		b := f.open(width, height, "recipes")
		b.until(`document.querySelectorAll('main section').length === 8`)
		b.show("recipe?path=/limits/transcode")
		b.untilText("2 leases of 2 held") // the maximum is inferred after somebody has waited
		for view, text := range f.views() {
			b.show(view)
			b.untilText(text)
			if cut := eval[int](b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); cut > 0 {
				t.Errorf("%s: %d pixels are cut off at %d", view, cut, width)
			}
			for _, scheme := range []string{"light", "dark"} {
				b.scheme(scheme)
				if bad := eval[[]string](b, contrasts); len(bad) > 0 {
					t.Errorf("%s, %s: little contrast: %q", view, scheme, bad)
				}
			}
			if width == 1280 {
				b.checkNames(view)
			}
		}
	}
}

// spoken is the role and the name of an element for a screen reader.
type spoken struct{ role, name string }

// accessible returns the page's accessibility tree.
func (b *tab) accessible() (all []spoken) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	tree, err := chromedp.Run(ctx, chromedp.Action[accessibility.GetFullAXTreeResult](func(ctx context.Context, target *chromedp.Target) (accessibility.GetFullAXTreeResult, error) {
		return cdp.Call(ctx, target, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	}))
	if err != nil {
		b.t.Fatal(err)
	}
	text := func(v *accessibility.Value) (s string) {
		if v != nil && json.Unmarshal(v.Value, &s) != nil {
			return "" // it is not text
		}
		return s
	}
	for _, n := range tree.Nodes {
		if !n.Ignored {
			all = append(all, spoken{text(n.Role), text(n.Name)})
		}
	}
	return all
}

// checkNames checks that all controls have names, and that the page has its landmarks.
func (b *tab) checkNames(view string) {
	b.t.Helper()
	all := b.accessible()
	count := map[string]int{}
	for _, n := range all {
		count[n.role]++
		if slices.Contains([]string{"link", "button", "searchbox", "textbox", "table", "img", "columnheader", "navigation", "dialog", "heading"}, n.role) && strings.TrimSpace(n.name) == "" {
			b.t.Errorf("%s: a %s has no name", view, n.role)
		}
	}
	for role, least := range map[string]int{"main": 1, "banner": 1, "navigation": 1, "heading": 1, "status": 1} {
		if count[role] < least {
			b.t.Errorf("%s: there are %d elements with the role %s", view, count[role], role)
		}
	}
	if !slices.Contains(all, spoken{"link", "Skip to the contents"}) {
		b.t.Errorf("%s: there is no link to the contents", view)
	}
}

// TestSpoken checks the roles and names that a screen reader gets for a lock.
func TestSpoken(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	f.fill()
	b := f.open(390, 844, "recipe?path=/locks/orders") // so narrow that tables are not displayed as tables
	b.untilText("3 wait.")
	all := b.accessible()
	for _, want := range []spoken{
		{"heading", "/locks/orders"}, {"table", "Holders"}, {"table", "Waiters, in order"}, {"columnheader", "Held for"},
		{"cell", "billing on web-7, pid 1259"}, {"link", fmt.Sprintf("0x%x", f.client("mailer").SessionID())}, {"navigation", "Views"},
	} {
		if !slices.Contains(all, want) {
			t.Errorf("there is no %s %q in %q", want.role, want.name, all)
		}
	}
	if !slices.ContainsFunc(all, func(n spoken) bool { return strings.HasPrefix(n.name, "Time line of the last 30 s: 1 holds.") }) {
		t.Errorf("the time line has no name: %q", all)
	}
}

// A printed page is dark on white, and has no controls.
func TestPrinted(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	f.fill()
	b := f.open(900, 1200, "recipes")
	b.untilText("Counters")
	b.scheme("dark")
	b.run(func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return none, err
	})
	for _, gone := range []string{".tabs", ".tools", ".skip"} {
		if display := eval[string](b, fmt.Sprintf("getComputedStyle(document.querySelector(%q)).display", gone)); display != "none" {
			t.Errorf("%s is printed, as %s", gone, display)
		}
	}
	if colours := eval[string](b, `getComputedStyle(document.body).color + ' on ' + getComputedStyle(document.body).backgroundColor`); colours != "rgb(0, 0, 0) on rgb(255, 255, 255)" {
		t.Error(colours)
	}
	if bad := eval[[]string](b, contrasts); len(bad) > 0 {
		t.Errorf("little contrast: %q", bad)
	}
	b.untilText("orders-api on web-10")
}
