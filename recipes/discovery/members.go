package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// This file splits JSON objects into their members. encoding/json takes several times as long, and
// instances are read by the hundred. members lets encoding/json check that the data is valid, and
// the other functions rely on that.

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
