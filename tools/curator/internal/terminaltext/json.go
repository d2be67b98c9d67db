package terminaltext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"

	"github.com/go-curator/curator/tools/curator/internal/jsontext"
)

// JSON returns a value as JSON on several lines, down to the level that package jsontext permits.
// Characters that are not printable are escaped, even where JSON does not require it.
func JSON(value any) ([]byte, error) {
	text, err := encode(value)
	if err != nil {
		return nil, err
	}
	return escaped(append(jsontext.Indent(text), '\n')), nil
}

// JSONLine is JSON on one line.
func JSONLine(value any) ([]byte, error) {
	text, err := encode(value)
	return escaped(text), err
}

// encode returns a value as JSON on one line.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return b.Bytes(), err
}

// escaped escapes the characters of a JSON text that are not printable, except line feeds.
func escaped(encoded []byte) []byte {
	var text bytes.Buffer
	for _, r := range string(encoded) {
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
	return text.Bytes()
}
