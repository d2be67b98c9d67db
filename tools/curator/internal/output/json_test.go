package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// documents are JSON of all forms.
var documents = []string{
	`{}`, `[]`, `null`, `true`, `-12.5e3`, `""`, `"a"`, ` [ 1 , 2 ] `, "{\n\"a\" :\t{ } }\r\n",
	`{"a":{},"b":[],"c":[[]],"d":[{}],"e":[[1,[2,3]],{"x":[{"y":1,"z":{"u":2}},4]}],"n":null}`,
	`["\"","\\","\\\"","[","]","{\"a\":1}",", ","é\u0000"]`,
}

// compact returns JSON without spaces.
func compact(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out.String()
}

// What is not deep is indented as encoding/json does it.
func TestAsEncodingJSON(t *testing.T) {
	for _, text := range documents {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(compact(t, []byte(text))), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := indented([]byte(text)); string(got) != want.String() {
			t.Errorf("%s is\n%s\nwant\n%s", text, got, want.String())
		}
	}
}

// However deep JSON is, its indented text has the same values, and at most four times its length or 64 KiB.
func TestLimits(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"100 lists":                 {strings.Repeat("[", 100) + strings.Repeat("]", 100), 100},
		"101 lists":                 {strings.Repeat("[", 101) + strings.Repeat("]", 101), 100},
		"10,000 lists":              {strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), 100},
		"10,000 objects":            {strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000), 100},
		"many numbers, 50 deep":     {strings.Repeat("[", 50) + strings.Repeat("1,", 50_000) + "1" + strings.Repeat("]", 50), 49},
		"few numbers, 50 deep":      {strings.Repeat("[", 50) + strings.Repeat("1,", 50) + "1" + strings.Repeat("]", 50), 100},
		"many numbers, one deep":    {"[" + strings.Repeat("1,", 50_000) + "1]", 100},
		"two numbers on each level": {strings.Repeat("[1,", 9_000) + "2" + strings.Repeat(",3]", 9_000), 100},
	} {
		got, limit := indented([]byte(tt.text)), max(64<<10, 4*len(tt.text))
		if levels := levelsOf([]byte(tt.text)); levels != tt.want {
			t.Errorf("%s: %d levels, want %d", name, levels, tt.want)
		}
		if len(got) > limit || compact(t, got) != tt.text {
			t.Errorf("%s: %d bytes of %d, at most %d", name, len(got), len(tt.text), limit)
		}
	}
}

func FuzzIndent(f *testing.F) {
	for _, text := range append(documents, `]]{`, `"\`, `"`) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := indented(text) // nothing panics
		if !json.Valid(text) {
			return
		}
		if got, want := compact(t, got), compact(t, text); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
