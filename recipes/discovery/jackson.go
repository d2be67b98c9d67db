package discovery

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// jsonWriter writes JSON as Jackson does. Its first error stays.
type jsonWriter struct {
	dst []byte
	err error
}

func (w *jsonWriter) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *jsonWriter) raw(text string) { w.dst = append(w.dst, text...) }

func (w *jsonWriter) integer(n int64) { w.dst = strconv.AppendInt(w.dst, n, 10) }

// text writes a string. Jackson escapes what it must and, in UTF-8, characters beyond U+FFFF.
func (w *jsonWriter) text(s string) {
	if !utf8.ValidString(s) {
		w.fail(fmt.Errorf("the text %q is not UTF-8", s))
	}
	w.dst = append(w.dst, '"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			w.dst = append(w.dst, '\\', byte(r))
		case '\b':
			w.raw(`\b`)
		case '\t':
			w.raw(`\t`)
		case '\n':
			w.raw(`\n`)
		case '\f':
			w.raw(`\f`)
		case '\r':
			w.raw(`\r`)
		default:
			w.char(r)
		}
	}
	w.dst = append(w.dst, '"')
}

func (w *jsonWriter) char(r rune) {
	switch {
	case r < ' ':
		w.dst = fmt.Appendf(w.dst, `\u%04X`, r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		w.dst = fmt.Appendf(w.dst, `\u%04X\u%04X`, high, low)
	default:
		w.dst = utf8.AppendRune(w.dst, r)
	}
}

// float writes a number of 64 or 32 bits as Java's Double.toString and Float.toString do: always
// with a point, and with an exponent from 10^7 and below 10^-3.
func (w *jsonWriter) float(f float64, bits int) {
	abs := math.Abs(f)
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		w.fail(fmt.Errorf("the number %v is not finite", f))
	case abs == 0, abs >= 1e-3 && abs < 1e7:
		text := strconv.FormatFloat(f, 'f', -1, bits)
		w.raw(text)
		if !strings.Contains(text, ".") {
			w.raw(".0")
		}
	default:
		mantissa, exponent, _ := strings.Cut(scientific(f, bits), "e")
		w.raw(mantissa)
		if !strings.Contains(mantissa, ".") {
			w.raw(".0")
		}
		n, _ := strconv.Atoi(exponent) // it is well-formed
		w.raw("E")
		w.integer(int64(n))
	}
}

// scientific returns the shortest text that is this number and no other or, if that has one digit,
// the nearest text with two digits: 4.9E-324.
func scientific(f float64, bits int) string {
	if two := strconv.FormatFloat(f, 'e', 1, bits); parses(two, f, bits) {
		return two
	}
	return strconv.FormatFloat(f, 'e', -1, bits)
}

func parses(text string, f float64, bits int) bool {
	parsed, err := strconv.ParseFloat(text, bits)
	return err == nil && parsed == f
}

// marshaled writes what encoding/json has made of v as Jackson would have written it: with its
// escapes, and with the floats of v as floats. v is invalid where that is not known.
func (w *jsonWriter) marshaled(text []byte, v reflect.Value) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	token, err := decoder.Token()
	if err == nil {
		err = w.value(decoder, token, v)
	}
	if _, more := decoder.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("there is data behind the value")
	}
	if err != nil {
		w.fail(err)
	}
}

// value writes the value that begins with a token.
func (w *jsonWriter) value(decoder *json.Decoder, token json.Token, v reflect.Value) error {
	v = inner(v)
	switch t := token.(type) {
	case nil:
		w.raw("null")
	case bool:
		w.raw(strconv.FormatBool(t))
	case string:
		w.text(t)
	case json.Number:
		if f, err := strconv.ParseFloat(t.String(), 64); err == nil && v.IsValid() && v.CanFloat() {
			w.float(f, v.Type().Bits())
		} else {
			w.raw(t.String())
		}
	case json.Delim:
		if t == '{' {
			return w.object(decoder, v)
		}
		return w.array(decoder, v)
	}
	return nil
}

func (w *jsonWriter) object(decoder *json.Decoder, v reflect.Value) error {
	w.raw("{")
	for n := 0; decoder.More(); n++ {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		if n > 0 {
			w.raw(",")
		}
		name, _ := key.(string)
		w.text(name)
		w.raw(":")
		if err := w.value(decoder, token, member(v, name)); err != nil {
			return err
		}
	}
	w.raw("}")
	_, err := decoder.Token()
	return err
}

func (w *jsonWriter) array(decoder *json.Decoder, v reflect.Value) error {
	w.raw("[")
	for n := 0; decoder.More(); n++ {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		if n > 0 {
			w.raw(",")
		}
		var item reflect.Value
		if v.IsValid() && (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && n < v.Len() {
			item = v.Index(n)
		}
		if err := w.value(decoder, token, item); err != nil {
			return err
		}
	}
	w.raw("]")
	_, err := decoder.Token()
	return err
}

// marshalsItself tells whether encoding/json leaves the values of a type to its methods.
func marshalsItself(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && (t.Implements(marshaler) || t.Implements(textMarshaler))
}

// inner returns what is behind pointers and interfaces, and an invalid value for one that
// marshals itself.
func inner(v reflect.Value) reflect.Value {
	for v.IsValid() {
		switch {
		case marshalsItself(v.Type()):
			return reflect.Value{}
		case v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface:
			return v
		}
		v = v.Elem()
	}
	return v
}

// member returns the member of an object that encoding/json writes under a name, as far as that
// matters for floats.
func member(v reflect.Value, name string) reflect.Value {
	switch {
	case !v.IsValid():
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String:
		return v.MapIndex(reflect.ValueOf(name).Convert(v.Type().Key()))
	case v.Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.IsExported() || field.Anonymous && tag == "" || tag != name && (tag != "" || field.Name != name) {
				continue
			}
			if value, err := v.FieldByIndexErr(field.Index); err == nil {
				return value
			}
		}
	}
	return reflect.Value{}
}

// The rest of this file splits JSON objects into their members. encoding/json takes four times as long and five
// times the allocations if it reads a map, more with a Decoder, and instances are read by the hundred. members
// lets encoding/json check that the data is valid, and the other functions rely on that.

const space = " \t\r\n"

var errNoObject = errors.New("the data is not a JSON object")

// byteOrderMark may stand before the JSON, as in Jackson. Editors on Windows write it.
var byteOrderMark = []byte("\ufeff")

// members calls fn for the members of a JSON object, in order. Unlike in encoding/json, keys that
// differ in case are different.
func members(data []byte, fn func(key, value []byte) error) error {
	data = bytes.TrimPrefix(data, byteOrderMark)
	rest := bytes.TrimLeft(data, space)
	if len(rest) == 0 || rest[0] != '{' {
		return errNoObject
	}
	if !json.Valid(data) {
		var raw json.RawMessage
		return json.Unmarshal(data, &raw) // says why
	}
	return validMembers(rest, fn)
}

// validMembers is members for valid JSON that begins with an object.
func validMembers(rest []byte, fn func(key, value []byte) error) error {
	for rest = rest[1:]; ; {
		rest = bytes.TrimLeft(rest, space+",")
		if rest[0] == '}' {
			return nil
		}
		n := valueLength(rest)
		key := rest[1 : n-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			text, err := readText(rest[:n])
			if err != nil {
				return err
			}
			key = []byte(text)
		}
		rest = bytes.TrimLeft(rest[n:], space+":")
		n = valueLength(rest)
		if err := fn(key, rest[:n]); err != nil {
			return fmt.Errorf("key %s: %w", key, err)
		}
		rest = rest[n:]
	}
}

// validElements calls fn for the elements of an array that valid JSON begins with, in order.
func validElements(rest []byte, fn func(value []byte) error) error {
	for rest = rest[1:]; ; {
		rest = bytes.TrimLeft(rest, space+",")
		if rest[0] == ']' {
			return nil
		}
		n := valueLength(rest)
		if err := fn(rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
}

// valueLength returns the length of the value that valid JSON begins with.
func valueLength(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			if n := bytes.IndexAny(data[i:], space+",]}"); n >= 0 {
				return i + n
			}
			return len(data)
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(data)
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// readText returns a string, "" for null.
func readText(raw []byte) (text string, err error) {
	if raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), nil
	}
	err = json.Unmarshal(raw, &text)
	return text, err
}
