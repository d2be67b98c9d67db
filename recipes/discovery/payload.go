package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// The Java types of payloads, written before the value in an array of two.
const (
	javaMap     = "java.util.LinkedHashMap"
	javaList    = "java.util.ArrayList"
	javaLong    = "java.lang.Long"
	javaFloat   = "java.lang.Float"
	javaBigInt  = "java.math.BigInteger"
	javaBytes   = "[B"
	classMember = "@class" // of an object
)

// writePayload writes a payload with its Java type.
func writePayload[T any](w *jsonWriter, payload T, class string) {
	if raw, ok := any(payload).(json.RawMessage); ok {
		w.rawPayload(raw)
		return
	}
	v := inner(reflect.ValueOf(&payload).Elem())
	if v.IsValid() && v.Type() == reflect.TypeFor[struct{}]() {
		w.raw("null")
		return
	}
	if v.IsValid() && v.Kind() == reflect.String && v.Type() != reflect.TypeFor[json.Number]() {
		w.text(v.String()) // encoding/json replaces what is not UTF-8
		return
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(payload); err != nil {
		w.fail(fmt.Errorf("payload: %w", err))
		return
	}
	line := bytes.TrimSpace(text.Bytes())
	switch {
	case line[0] == '{':
		w.typedObject(line, v, class)
	case line[0] == '[':
		w.typed(javaList, line, v)
	case v.IsValid() && v.Kind() == reflect.Slice && line[0] == '"':
		w.typed(javaBytes, line, v)
	case line[0] == '-' || line[0] >= '0' && line[0] <= '9':
		if class := numberClass(string(line), v); class != "" {
			w.typed(class, line, v)
			return
		}
		fallthrough
	default:
		w.marshaled(line, v)
	}
}

// rawPayload writes a payload that has its Java type already.
func (w *jsonWriter) rawPayload(raw json.RawMessage) {
	if len(raw) == 0 {
		w.raw("null")
		return
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		w.fail(fmt.Errorf("payload: %w", err))
		return
	}
	w.dst = append(w.dst, compact.Bytes()...)
}

// typed writes a value that is no object with its type.
func (w *jsonWriter) typed(class string, text []byte, v reflect.Value) {
	w.raw("[")
	w.text(class)
	w.raw(",")
	w.marshaled(text, v)
	w.raw("]")
}

// typedObject writes an object with its type as the first member.
func (w *jsonWriter) typedObject(text []byte, v reflect.Value, class string) {
	if class == "" && v.IsValid() && v.Kind() == reflect.Map {
		class = javaMap
	}
	start := len(w.dst)
	w.marshaled(text, v)
	if class == "" || w.err != nil {
		return
	}
	members := string(w.dst[start+1:]) // behind the brace
	w.dst = w.dst[:start]
	w.raw("{")
	w.text(classMember)
	w.raw(":")
	w.text(class)
	if members != "}" {
		w.raw(",")
	}
	w.raw(members)
}

// numberClass returns the type that a number is written with, "" for none.
func numberClass(text string, v reflect.Value) string {
	kind := reflect.Invalid
	if v.IsValid() {
		kind = v.Kind()
	}
	switch kind {
	case reflect.Float64, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16:
		return ""
	case reflect.Float32:
		return javaFloat
	}
	if strings.ContainsAny(text, ".eE") { // of one that marshals itself
		return ""
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return javaBigInt
	case kind == reflect.Int64 || kind == reflect.Uint32 || kind == reflect.Uint64 || n < math.MinInt32 || n > math.MaxInt32:
		return javaLong
	}
	return ""
}

// readPayload reads a payload, which may be missing.
func readPayload[T any](raw json.RawMessage) (payload T, err error) {
	switch to := any(&payload).(type) {
	case *json.RawMessage:
		if !isNull(raw) {
			*to = bytes.Clone(raw)
		}
		return payload, nil
	case *struct{}:
		return payload, nil
	}
	if isNull(raw) {
		return payload, nil
	}
	value, class, err := untyped(raw)
	if err != nil {
		return payload, err
	}
	switch to := any(&payload).(type) {
	case *string:
		if value[0] != '"' {
			return payload, fmt.Errorf("%s is not a text", value)
		}
		*to, err = readText(value)
	case *any:
		*to, err = natural(value, class)
	case *map[string]any:
		var object any
		if object, err = natural(value, class); err == nil {
			var ok bool
			if *to, ok = object.(map[string]any); !ok {
				err = errors.New("it is not an object")
			}
		}
	default:
		err = json.Unmarshal(value, &payload)
	}
	if err != nil {
		var none T
		return none, err
	}
	return payload, nil
}

// untyped takes the Java type off a payload.
func untyped(raw json.RawMessage) (value json.RawMessage, class string, err error) {
	switch raw[0] {
	case '[':
		var pair []json.RawMessage
		if err := json.Unmarshal(raw, &pair); err != nil {
			return nil, "", err
		}
		if len(pair) != 2 || json.Unmarshal(pair[0], &class) != nil {
			return nil, "", errors.New("an array must have the name of a Java class and a value")
		}
		return pair[1], class, nil
	case '{':
		if bytes.Contains(raw, []byte(`"`+classMember+`"`)) {
			return withoutClass(raw)
		}
	}
	return raw, "", nil
}

// withoutClass returns an object without its type, which Jackson writes as the first member.
func withoutClass(raw json.RawMessage) (json.RawMessage, string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil, "", err
	}
	end := decoder.InputOffset() // of what was kept last
	for first := true; decoder.More(); first = false {
		key, err := decoder.Token()
		if err != nil {
			return nil, "", err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, "", err
		}
		if key == classMember {
			rest := raw[decoder.InputOffset():]
			if first { // the comma behind it goes, else the one before
				rest = bytes.TrimPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(","))
			}
			var class string
			if err := json.Unmarshal(value, &class); err != nil {
				return nil, "", err
			}
			return append(bytes.Clone(raw[:end]), rest...), class, nil
		}
		end = decoder.InputOffset()
	}
	return raw, "", nil // it is the class of something deeper
}

// natural returns a value of which only the JSON is known, so that it is written the same way
// again. Unlike in encoding/json, numbers without a point are integers.
func natural(raw json.RawMessage, class string) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	value, err := withNumbers(value)
	if err != nil {
		return nil, err
	}
	switch n := value.(type) {
	case int:
		if class == javaLong {
			return int64(n), nil
		}
	case float64:
		if class == javaFloat {
			return float32(n), nil
		}
	case string:
		if class == javaBytes {
			var data []byte
			err := json.Unmarshal(raw, &data)
			return data, err
		}
	}
	return value, nil
}

// withNumbers replaces the json.Numbers of a value, in place where it can.
func withNumbers(value any) (_ any, err error) {
	switch v := value.(type) {
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return v.Float64()
		}
		if n, err := strconv.ParseInt(v.String(), 10, 0); err == nil {
			return int(n), nil
		}
		return v, nil // of more than 64 bits
	case map[string]any:
		for key := range v {
			if v[key], err = withNumbers(v[key]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = withNumbers(v[i]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
