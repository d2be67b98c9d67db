package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// This file splits JSON objects into their members. encoding/json takes several times as long, and
// instances are read by the hundred. members lets encoding/json check that the data is valid, and
// the other functions rely on that.

const space = " \t\r\n"

var errNoObject = errors.New("the data is not a JSON object")

// members calls fn for the members of a JSON object, in order. Unlike in encoding/json, keys that
// differ in case are different.
func members(data []byte, fn func(key, value []byte) error) error {
	rest := bytes.TrimLeft(data, space)
	if len(rest) == 0 || rest[0] != '{' {
		return errNoObject
	}
	if !json.Valid(data) {
		var raw json.RawMessage
		return json.Unmarshal(data, &raw) // says why
	}
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

// readInteger returns an integer of 32 or 64 bits, 0 for null.
func readInteger(raw []byte, bits int) (int64, error) {
	if isNull(raw) {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(raw), 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s is not an integer of %d bits", raw, bits)
	}
	return n, nil
}
