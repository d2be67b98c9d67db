package screen

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "orders": 6, "üß": 2, "e\u0301": 1, "漢字": 4, "\U0001f600": 2, "\x1b": 4, "\u202e": 6} {
		if got := Width(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
	for text, want := range map[string]string{"ab": "ab  ", "abcdef": "abcd", "漢字漢": "漢字", "a漢字": "a漢 ", "\x1b": `\x1b`} {
		if got := Pad(text, 4); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestSVG parses a picture as XML, and checks its texts.
func TestSVG(t *testing.T) {
	lines := []Line{Text(Strong, "a <b> & c").And(Bad, "   far  off\x1b[2J"), nil, Text(Faint, strings.Repeat("x", 50))}
	picture := SVG(lines, 40, "t", `d "e"`)
	var texts []string
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok && strings.TrimSpace(string(data)) != "" {
			texts = append(texts, string(data))
		}
	}
	if got := strings.Join(texts, "|"); got != `t|a <b> & c|far|off\x1b[2J|`+strings.Repeat("x", 40) {
		t.Errorf("texts %q", got)
	}
}
