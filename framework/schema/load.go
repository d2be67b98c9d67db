package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxFile bounds what LoadJSON reads.
const maxFile = 16 << 20

// LoadJSON reads schemas from a file in the format of Java's SchemaSetLoader, an array of
// objects with these keys:
//
//	"name"             a string, required: unique in the file
//	"path"             a string, required: a path, or a regular expression
//	"isRegex"          true if path is a regular expression; false by default
//	"schemaValidator"  a string: names one of validators; none by default
//	"documentation"    a string; "" by default
//	"ephemeral"        "can", "must" or "cannot", in any case; "can" by default
//	"sequential"       likewise
//	"watched"          likewise
//	"canBeDeleted"     true if the node can be deleted; false by default
//	"metadata"         an object with strings, numbers, true, false or null, all of
//	                   which become text; empty by default
//
// Java's documentation says that canBeDeleted is true by default, but Java's loader reads a
// missing key as false. Numbers in the metadata keep the digits of the file; Java changes 1.50
// to 1.5.
//
// LoadJSON is stricter than Java. These are errors: an unknown key, a duplicate key, a value of
// another type, a duplicate name, path or regular expression, text after the array, and an
// unescaped bracket or && within the brackets of a regular expression, because its meaning
// differs in Java. See NewRegexp for the other differences.
//
// The file is UTF-8 and has at most 16 MiB. It is read to its end; r is not closed. An error
// matches ErrInvalid, unless it is r's, and has the position. With an error LoadJSON returns no
// schemas. Pass the result to NewSet, alone or with other schemas.
//
// Java: SchemaSetLoader, with validators for its SchemaValidatorMapper.
func LoadJSON(r io.Reader, validators map[string]Validator) ([]*Schema, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("load schemas: %w", err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("load schemas: %w: the file has more than %d bytes", ErrInvalid, maxFile)
	case !utf8.Valid(text):
		return nil, fmt.Errorf("load schemas: %w: the file is not UTF-8", ErrInvalid)
	}
	schemas, err := parse(text, validators)
	if err == nil {
		_, err = NewSet(schemas, false)
	}
	if err == nil {
		return schemas, nil
	}
	if !errors.Is(err, ErrInvalid) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil, fmt.Errorf("load schemas: %w", err)
}

func parse(text []byte, validators map[string]Validator) ([]*Schema, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")), err)
		}
		return nil, err
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(whole, &objects); err != nil || whole[0] != '[' {
		return nil, fmt.Errorf("the file must be an array of schemas, not %s", excerpt(whole))
	}
	var schemas []*Schema
	for i, object := range objects {
		s, err := parseSchema(object, validators)
		if err != nil {
			return nil, fmt.Errorf("number %d: %w", i+1, err)
		}
		schemas = append(schemas, s)
	}
	return schemas, nil
}

// members has the values of an object by their keys. Unlike package json with a map or a struct, it
// refuses duplicate keys, and keys in another case are different.
type members map[string]json.RawMessage

// UnmarshalJSON reads an object.
func (m *members) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return fmt.Errorf("%s is not an object", excerpt(text))
	}
	*m = members{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if _, ok := (*m)[key]; ok {
			return fmt.Errorf("the key %q is there twice", key)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		(*m)[key] = value
	}
	return nil
}

// take reads the value of a key into target, if the key is there, and removes it.
func (m members) take(key string, target any, want string) error {
	value, ok := m[key]
	if !ok {
		return nil
	}
	delete(m, key)
	if err := json.Unmarshal(value, target); err != nil || string(value) == "null" {
		return fmt.Errorf("%q must be %s, not %s", key, want, excerpt(value))
	}
	return nil
}

// excerpt returns the beginning of a value, for an error.
func excerpt(value []byte) string {
	const most = 40
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "..."
}

// parseSchema makes a schema of an object.
func parseSchema(object []byte, validators map[string]Validator) (*Schema, error) {
	var m members
	if err := m.UnmarshalJSON(object); err != nil {
		return nil, err
	}
	var name, path, documentation, validator string
	var isRegex, canBeDeleted bool
	var ephemeral, sequential, watched allowanceText
	var metadata members
	_, isPath := m["path"]
	_, isValidated := m["schemaValidator"]
	const allowance = `"can", "must" or "cannot"`
	for _, key := range []struct {
		key    string
		target any
		want   string
	}{
		{"name", &name, "a string"},
		{"path", &path, "a string"},
		{"isRegex", &isRegex, "true or false"},
		{"schemaValidator", &validator, "a string"},
		{"documentation", &documentation, "a string"},
		{"ephemeral", &ephemeral, allowance},
		{"sequential", &sequential, allowance},
		{"watched", &watched, allowance},
		{"canBeDeleted", &canBeDeleted, "true or false"},
		{"metadata", &metadata, "an object that has each key once"},
	} {
		if err := m.take(key.key, key.target, key.want); err != nil {
			return nil, named(name, err)
		}
	}
	if unknown := slices.Sorted(maps.Keys(m)); len(unknown) > 0 {
		return nil, named(name, fmt.Errorf("there is no key %q", unknown[0]))
	}
	switch {
	case name == "":
		return nil, errors.New(`it has no "name"`)
	case !isPath:
		return nil, named(name, errors.New(`it has no "path"`))
	}
	texts, err := metadata.texts()
	if err != nil {
		return nil, named(name, err)
	}
	opts := []Option{
		WithDocumentation(documentation), WithCanBeDeleted(canBeDeleted), WithMetadata(texts),
		WithEphemeral(Allowance(ephemeral)), WithSequential(Allowance(sequential)), WithWatched(Allowance(watched)),
	}
	if isValidated {
		v := validators[validator]
		if v == nil {
			return nil, named(name, fmt.Errorf("there is no validator %q", validator))
		}
		opts = append(opts, WithValidator(v))
	}
	if !isRegex {
		return New(name, path, opts...)
	}
	if reason := foreignBrackets(path); reason != "" {
		return nil, named(name, fmt.Errorf("regular expression %q: %s means something else in Java: escape it, or say it in another way", path, reason))
	}
	return NewRegexp(name, path, opts...)
}

// named says which schema an error is about, once that is known.
func named(name string, err error) error {
	if name == "" {
		return err
	}
	return fmt.Errorf("%q: %w", name, err)
}

// texts returns the values as Java's loader does: all of them are text.
func (m members) texts() (map[string]string, error) {
	if len(m) == 0 {
		return nil, nil
	}
	texts := make(map[string]string, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		value := m[key]
		text := string(value)
		switch value[0] {
		case '{', '[':
			return nil, fmt.Errorf(`the value of %q in "metadata" must be a string, a number, true, false or null, not %s`, key, excerpt(value))
		case '"':
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, err
			}
		}
		texts[key] = text
	}
	return texts, nil
}

// allowanceText is an Allowance in a file.
type allowanceText Allowance

// UnmarshalText reads an allowance in any case, as Java's loader does.
func (a *allowanceText) UnmarshalText(text []byte) error {
	i := slices.Index(allowanceNames[:], strings.ToLower(string(text)))
	if i < 0 {
		return fmt.Errorf("there is no allowance %q", text)
	}
	*a = allowanceText(i)
	return nil
}

// foreignBrackets returns what in the brackets of a regular expression is an operator in Java and plain
// text in Go, or a class in Go and plain text in Java; "" if there is none. Unlike other differences,
// these would make a schema match other paths without an error.
func foreignBrackets(expr string) string {
	within := false // brackets
	for i := 0; i < len(expr); i++ {
		rest := expr[i:]
		switch {
		case strings.HasPrefix(rest, `\Q`):
			end := strings.Index(rest, `\E`)
			if end < 0 {
				return ""
			}
			if within {
				return `\Q in brackets`
			}
			i += end + 1
		case rest[0] == '\\':
			i++
		case !within && rest[0] == '[':
			within = true
			if strings.HasPrefix(rest[1:], "^") {
				i++
			}
			if strings.HasPrefix(expr[i+1:], "]") { // the first one is plain text
				i++
			}
		case within && rest[0] == '[':
			return "[ in brackets"
		case within && strings.HasPrefix(rest, "&&"):
			return "&& in brackets"
		case within && rest[0] == ']':
			within = false
		}
	}
	return ""
}
