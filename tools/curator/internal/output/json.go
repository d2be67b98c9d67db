package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"unicode/utf16"
)

// JSON returns a value as JSON on several lines, down to the level that levelsOf permits.
// Characters that are not printable are escaped, even where JSON does not require it.
func JSON(value any) ([]byte, error) {
	text, err := encode(value)
	if err != nil {
		return nil, err
	}
	return escaped(append(indented(text), '\n')), nil
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

const (
	deepest = 100      // the level below which nothing is indented
	growth  = 4        // the maximum of the length of the indented text, as a multiple of its length without spaces
	small   = 64 << 10 // an indented text of this length is permitted always, in bytes
)

// indent is what stands before a line, once for each level.
const indent = "  "

// levelsOf returns how many levels of a JSON document may be indented by two spaces each, such that its
// text stays within 64 KiB or four times its length. It is at most 100. Level 1 is the members of the
// outermost object or list. text must be valid JSON.
func levelsOf(text []byte) int {
	var added [deepest + 1]int // the bytes that the lines of each level add
	size, depth := 0, 0
	add := func(level, bytes int) {
		if 0 < level && level <= deepest {
			added[level] += bytes
		}
	}
	for token := range tokens(text) {
		size += len(token)
		switch token[0] {
		case '{', '[':
			depth++
			add(depth, 1+len(indent)*depth)
		case '}', ']':
			add(depth, 1+len(indent)*(depth-1))
			depth--
		case ',':
			add(depth, 1+len(indent)*depth)
		case ':':
			add(depth, 1)
		}
	}
	most := max(small, growth*size)
	for level := 1; level <= deepest; level++ {
		if size += added[level]; size > most {
			return level - 1
		}
	}
	return deepest
}

// indented returns a JSON document with each member of an object or a list on a line of its own, as
// json.Indent does with two spaces, down to the level of levelsOf. Objects and lists below are on the line
// on which they begin. Spaces of the original are left out. text must be valid JSON.
func indented(text []byte) []byte {
	levels := levelsOf(text)
	var out bytes.Buffer
	depth, empty := 0, false // empty says that the last token has opened an object or a list
	line := func(depth int) {
		out.WriteByte('\n')
		for range depth {
			out.WriteString(indent)
		}
	}
	for token := range tokens(text) {
		closing := token[0] == '}' || token[0] == ']'
		if empty && !closing && depth <= levels {
			line(depth)
		}
		if closing {
			if !empty && depth <= levels {
				line(depth - 1)
			}
			depth--
		}
		out.Write(token)
		empty = token[0] == '{' || token[0] == '['
		switch {
		case empty:
			depth++
		case token[0] == ',' && depth <= levels:
			line(depth)
		case token[0] == ':' && depth <= levels:
			out.WriteByte(' ')
		}
	}
	return out.Bytes()
}

// tokens iterates over the strings, the other values and the delimiters of valid JSON.
func tokens(text []byte) iter.Seq[[]byte] {
	return func(yield func(token []byte) bool) {
		for at := 0; at < len(text); {
			end := at + 1
			switch text[at] {
			case ' ', '\t', '\r', '\n':
				at = end
				continue
			case '"':
				end = endOfString(text, end)
			case '{', '}', '[', ']', ',', ':':
			default:
				if n := bytes.IndexAny(text[at:], " \t\r\n{}[],:\""); n > 0 {
					end = at + n
				} else {
					end = len(text)
				}
			}
			if !yield(text[at:end]) {
				return
			}
			at = end
		}
	}
}

// endOfString returns the index after the quote that ends the string whose text begins at an index.
func endOfString(text []byte, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}
