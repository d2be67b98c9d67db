package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// YAML returns a JSON document as a YAML document with the same values and the same order of
// names. A string that YAML could read as another type is in double quotes, and characters that are
// not printable are escaped. Objects and lists below the level that levelsOf permits are on one
// line, in YAML's flow style. text must be output of encoding/json.
func YAML(text []byte) ([]byte, error) {
	w := &yamlWriter{decoder: json.NewDecoder(bytes.NewReader(text))}
	w.decoder.UseNumber()
	token, err := w.decoder.Token()
	if err == nil {
		w.levels = levelsOf(text) // after Token, because text may not be JSON
		err = w.value(token, 0, false)
	}
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	if _, err := w.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("write YAML: there is more than one JSON document")
	}
	return w.out.Bytes(), nil
}

// yamlWriter turns the tokens of a JSON document into YAML.
type yamlWriter struct {
	decoder *json.Decoder
	levels  int // how many levels are in block style
	out     bytes.Buffer
}

// perLevel is the number of spaces before a line, for each level.
const perLevel = 2

// value writes the value that begins with token, and a line feed. The beginning of the line was
// written before. inList says that it is the dash of a list item, after which an object or a list
// starts on the same line.
func (w *yamlWriter) value(token json.Token, indent int, inList bool) error {
	delim, block := token.(json.Delim)
	if !block {
		w.out.WriteString(scalar(token) + "\n")
		return nil
	}
	if !w.decoder.More() {
		w.out.WriteString(map[json.Delim]string{'{': "{}", '[': "[]"}[delim] + "\n")
		_, err := w.decoder.Token()
		return err
	}
	if indent/perLevel >= w.levels {
		err := w.flow(delim)
		w.out.WriteByte('\n')
		return err
	}
	if indent > 0 && !inList {
		w.out.WriteByte('\n')
	}
	for first := true; w.decoder.More(); first = false {
		if !first || !inList {
			w.out.WriteString(strings.Repeat(" ", indent))
		}
		if err := w.member(delim, indent); err != nil {
			return err
		}
	}
	_, err := w.decoder.Token() // the closing bracket
	return err
}

// member writes one member of an object or a list.
func (w *yamlWriter) member(of json.Delim, indent int) error {
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	if of == '[' {
		w.out.WriteString("- ")
		return w.value(token, indent+perLevel, true)
	}
	w.out.WriteString(scalar(token) + ":")
	if token, err = w.decoder.Token(); err != nil {
		return err
	}
	indent += perLevel
	if _, block := token.(json.Delim); !block || !w.decoder.More() || indent/perLevel >= w.levels {
		w.out.WriteByte(' ')
	}
	return w.value(token, indent, false)
}

// flow writes the rest of an object or a list on one line, after its opening bracket was read. All
// strings are in double quotes, because more characters have a meaning there. It has a loop instead of a
// recursion, because it writes what is nested deeply.
func (w *yamlWriter) flow(opened json.Delim) error {
	w.out.WriteString(opened.String())
	type level struct {
		object  bool
		written int // names and values
	}
	open := []level{{object: opened == '{'}}
	for len(open) > 0 {
		token, err := w.decoder.Token()
		if err != nil {
			return err
		}
		in := &open[len(open)-1]
		delim, block := token.(json.Delim)
		if block && (delim == '}' || delim == ']') {
			w.out.WriteString(delim.String())
			open = open[:len(open)-1]
			continue
		}
		switch {
		case in.object && in.written%2 == 1:
			w.out.WriteString(": ")
		case in.written > 0:
			w.out.WriteString(", ")
		}
		in.written++
		switch text, isString := token.(string); {
		case block:
			w.out.WriteString(delim.String())
			open = append(open, level{object: delim == '{'})
		case isString:
			w.out.WriteString(inQuotes(text))
		default:
			w.out.WriteString(scalar(token))
		}
	}
	return nil
}

func scalar(token json.Token) string {
	switch v := token.(type) {
	case nil:
		return "null"
	case string:
		return quoted(v)
	default:
		return fmt.Sprint(v) // a bool, or a number as it was written
	}
}

// plain matches strings that need no quotes in YAML, but also the words that are no strings there.
// Other strings would need no quotes either, but have them.
var plain = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_/.+@()-]*([ ,]*[A-Za-z0-9_/.+@()-])*$`)

// words are the words that YAML 1.1 or 1.2 reads as a bool or null.
var words = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

func quoted(text string) string {
	if plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	return inQuotes(text)
}

// inQuotes returns a string in double quotes.
func inQuotes(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
