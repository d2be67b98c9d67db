package output

import "testing"

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"orders-1 ü 漢":          "orders-1 ü 漢",
		"a\nb\tc\r":             `a\nb\tc\r`,
		"\x1b[2J\x00\x7f\u009b": `\x1b[2J\x00\x7f\u009b`,
		"a\u202eb\u2028":        `a\u202eb\u2028`,
		"\xffa\xc3":             `\xffa\xc3`,
		"\ufffd":                "\ufffd",
		"\U000e0001":            `\U000e0001`,
		`C:\n`:                  `C:\n`,
	} {
		if got := Line(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if got := Block("a\n\tb\x1b\r\n"); got != "a\n\tb\\x1b\\r\n" {
		t.Errorf("%q", got)
	}
}
