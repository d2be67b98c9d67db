package discovery

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// This file reads values as Jackson does, which takes one type for another: people and scripts write
// instances, too. TestInstancesOfOthers in internal/interop compares both.

var (
	errNoParts = errors.New("the parts of the URI template are null")
	errNoPart  = errors.New("a part of the URI template is not an object")
)

// readScalar returns a text, number or boolean as a text, "" for null.
func readScalar(raw []byte) (string, error) {
	switch {
	case isNull(raw):
		return "", nil
	case raw[0] == '"':
		return readText(raw)
	case raw[0] == '[' || raw[0] == '{':
		return "", fmt.Errorf("%s is not a text", raw)
	}
	return string(raw), nil
}

// readTrimmed returns a text without the space around it, or tells that it stands for null.
func readTrimmed(raw []byte) (text string, null bool, err error) {
	text, err = readText(raw)
	text = strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
	return text, text == "" || text == "null", err
}

// readInteger returns an integer of 32 or 64 bits, 0 for null.
func readInteger(raw []byte, bits int) (int64, error) {
	if isNull(raw) {
		return 0, nil
	}
	text := string(raw)
	if raw[0] == '"' {
		trimmed, null, err := readTrimmed(raw)
		if null || err != nil {
			return 0, err
		}
		text = trimmed
	} else if strings.ContainsAny(text, ".eE") {
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return truncated(f, bits)
		}
	}
	n, err := strconv.ParseInt(text, 10, bits)
	if err != nil {
		return 0, fmt.Errorf("%s is not an integer of %d bits", raw, bits)
	}
	return n, nil
}

// truncated returns a number without its decimal places.
func truncated(f float64, bits int) (int64, error) {
	limit := math.Ldexp(1, bits-1)
	switch {
	case bits < 64 && (f > limit-1 || f < -limit), f > limit, f < -limit:
		return 0, fmt.Errorf("%v is not an integer of %d bits", f, bits)
	case f == limit: // math.MaxInt64 is not a float64
		return math.MaxInt64, nil
	}
	return int64(f), nil
}

// readBool returns a boolean, false for null.
func readBool(raw []byte) (bool, error) {
	text := string(raw)
	if raw[0] == '"' {
		trimmed, null, err := readTrimmed(raw)
		if null || err != nil {
			return false, err
		}
		switch trimmed {
		case "true", "True", "TRUE":
			return true, nil
		case "false", "False", "FALSE":
			return false, nil
		}
		return false, fmt.Errorf("%s is not a boolean", raw)
	}
	switch {
	case text == "true":
		return true, nil
	case text == "false", isNull(raw):
		return false, nil
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		if !strings.ContainsAny(text, ".eE") {
			return strings.Trim(text, "-0") != "", nil
		}
	}
	return false, fmt.Errorf("%s is not a boolean", raw)
}

// readServiceType returns a type by its name or its number, Dynamic for null.
func readServiceType(raw []byte) (ServiceType, error) {
	if isNull(raw) {
		return Dynamic, nil
	}
	text := string(raw)
	if raw[0] == '"' {
		trimmed, _, err := readTrimmed(raw)
		if err != nil {
			return Dynamic, err
		}
		text = trimmed
	}
	if n, err := strconv.Atoi(text); err == nil && ServiceType(n).known() {
		return ServiceType(n), nil
	}
	if raw[0] != '"' {
		return Dynamic, fmt.Errorf("%s is not a service type", raw)
	}
	return parseServiceType(text)
}

// readURISpec returns a template, of which there may be the text or the parts.
func readURISpec(raw []byte) (URISpec, error) {
	switch {
	case isNull(raw):
		return URISpec{}, nil
	case raw[0] == '"':
		text, err := readText(raw)
		if err != nil {
			return URISpec{}, err
		}
		return ParseURISpec(text)
	case raw[0] != '{':
		return URISpec{}, fmt.Errorf("%s is not a URI template", raw)
	}
	spec := URISpec{parts: []uriPart{}}
	err := validMembers(raw, func(key, value []byte) error {
		switch {
		case string(key) != "parts":
			return nil
		case value[0] != '[':
			return errNoParts
		}
		spec.parts = []uriPart{} // of the last key of this name
		return validElements(value, spec.read)
	})
	if err != nil {
		return URISpec{}, err
	}
	return spec, nil
}

// read adds a part.
func (s *URISpec) read(raw []byte) error {
	if raw[0] != '{' {
		return errNoPart
	}
	var part uriPart
	err := validMembers(raw, func(key, value []byte) (err error) {
		switch string(key) {
		case "value":
			part.Value, err = readScalar(value)
		case "variable":
			part.Variable, err = readBool(value)
		}
		return err
	})
	s.parts = append(s.parts, part)
	return err
}
