package terminaltext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

// JSON returns a value as JSON on several lines. Characters that are not printable are escaped, even
// where JSON does not require it.
func JSON(value any) ([]byte, error) { return encode(value, "  ") }

// JSONLine is JSON on one line.
func JSONLine(value any) ([]byte, error) { return encode(value, "") }

func encode(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, r := range b.String() {
		switch {
		case r == '\n' || !unsafe(r):
			text.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&text, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&text, `\u%04x\u%04x`, high, low)
		}
	}
	return text.Bytes(), nil
}
