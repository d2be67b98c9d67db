package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
