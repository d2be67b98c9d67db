package discovery

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
)

// JSON returns the codec of Java's default serializer: UTF-8, compact, the same keys in the
// same order, so an instance written by Java is written again with the same bytes.
//
// Decode reads what Java reads. Unknown keys are ignored and missing keys are zero. Numbers, also
// for enabled and for the service type, and booleans may be texts, and texts may be numbers or
// booleans. Ports and times may have decimal places, which are dropped. A URISpec may be the text
// of the template. An enabled of null is false. Unlike in Java, data after the value is an error.
//
// Payloads are typed in Java. Strings, bools, float64 and integers of up to 32 bits are plain
// JSON, as are ints that fit in 32 bits. Larger integers, int64, float32, []byte and lists are
// written with their Java types, and objects need the name of a class, see WithPayloadClass.
// Decode drops the type, whatever class it names: a T of any gets a map[string]any for an
// object. A T of json.RawMessage gets the stored payload with its types. A T of struct{} has no
// payload: it reads instances with any payload, and writes null.
//
// Encode returns framework.ErrInvalidOption for an instance that the format cannot represent: a
// Disabled one without WithEnabledKey, a text that is not UTF-8, a number that is not finite.
// Texts in an object or a list are written as encoding/json does.
//
// Java: JsonInstanceSerializer.
func JSON[T any](opts ...JSONOption) codec.Codec[ServiceInstance[T]] {
	c := jsonCodec[T]{}
	for _, o := range opts {
		if o == nil {
			c.err = fmt.Errorf("%w: JSON: an option is nil", framework.ErrInvalidOption)
			break
		}
		o.json(&c.config)
	}
	return c
}

// JSONOption is an option of JSON. A nil JSONOption fails every call of the codec with
// framework.ErrInvalidOption.
type JSONOption interface{ json(*jsonConfig) }

type jsonOption func(*jsonConfig)

func (o jsonOption) json(c *jsonConfig) { o(c) }

type jsonConfig struct {
	class   string // "" for that of the kind
	enabled bool   // the key is written
}

// WithPayloadClass sets the Java class that is written into payloads that are objects,
// "com.acme.Meta". The default for maps is java.util.LinkedHashMap. The default for structs is
// no class, which Java can read if its payload class is a Map or Object.
//
// Java: the type of the payload object.
func WithPayloadClass(class string) JSONOption {
	return jsonOption(func(c *jsonConfig) { c.class = class })
}

// WithEnabledKey writes the key "enabled", which Curator before 5.0 refuses to read. Without
// this option Encode returns framework.ErrInvalidOption for a Disabled instance.
//
// Java: JsonInstanceSerializer(class, false).
func WithEnabledKey() JSONOption {
	return jsonOption(func(c *jsonConfig) { c.enabled = true })
}

type jsonCodec[T any] struct {
	config jsonConfig
	err    error // of the options
}

// Encode writes the keys in the order in which Java declares them.
func (c jsonCodec[T]) Encode(i ServiceInstance[T]) ([]byte, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case i.Disabled && !c.config.enabled:
		return nil, fmt.Errorf("%w: a Disabled instance needs WithEnabledKey", framework.ErrInvalidOption)
	case !i.Type.known():
		return nil, fmt.Errorf("%w: the instance's Type is %v", framework.ErrInvalidOption, i.Type)
	}
	w := jsonWriter{dst: make([]byte, 0, 512)}
	w.raw(`{"name":`)
	w.text(i.Name)
	w.raw(`,"id":`)
	w.text(i.ID)
	w.raw(`,"address":`)
	if i.Address == "" {
		w.raw("null")
	} else {
		w.text(i.Address)
	}
	w.raw(`,"port":`)
	w.port(i.Port)
	w.raw(`,"sslPort":`)
	w.port(i.SSLPort)
	w.raw(`,"payload":`)
	writePayload(&w, i.Payload, c.config.class)
	w.raw(`,"registrationTimeUTC":`)
	w.integer(unixMilli(i.Registered))
	w.raw(`,"serviceType":`)
	w.text(i.Type.String())
	w.raw(`,"uriSpec":`)
	w.uriSpec(i.URISpec)
	if c.config.enabled {
		w.raw(`,"enabled":`)
		w.raw(strconv.FormatBool(!i.Disabled))
	}
	w.raw("}")
	if w.err != nil {
		return nil, fmt.Errorf("%w: %w", framework.ErrInvalidOption, w.err)
	}
	return w.dst, nil
}

func (w *jsonWriter) port(port int) {
	if port == 0 {
		w.raw("null")
	} else {
		w.integer(int64(port))
	}
}

func (w *jsonWriter) uriSpec(spec URISpec) {
	if spec.parts == nil {
		w.raw("null")
		return
	}
	w.raw(`{"parts":[`)
	for n, part := range spec.parts {
		if n > 0 {
			w.raw(",")
		}
		w.raw(`{"value":`)
		w.text(part.Value)
		w.raw(`,"variable":`)
		w.raw(strconv.FormatBool(part.Variable))
		w.raw("}")
	}
	w.raw("]}")
}

// Decode reads what Java reads: keys in any order, each of which may be missing or null.
func (c jsonCodec[T]) Decode(data []byte) (i ServiceInstance[T], err error) {
	if c.err != nil {
		return i, c.err
	}
	if err := members(data, i.read); err != nil {
		return ServiceInstance[T]{}, err
	}
	return i, nil
}

// read takes over one key of an instance.
func (i *ServiceInstance[T]) read(key, value []byte) (err error) {
	var n int64
	switch string(key) {
	case "name":
		i.Name, err = readScalar(value)
	case "id":
		i.ID, err = readScalar(value)
	case "address":
		i.Address, err = readScalar(value)
	case "port":
		n, err = readInteger(value, 32)
		i.Port = int(n)
	case "sslPort":
		n, err = readInteger(value, 32)
		i.SSLPort = int(n)
	case "payload":
		i.Payload, err = readPayload[T](value)
	case "registrationTimeUTC":
		if n, err = readInteger(value, 64); n != 0 {
			i.Registered = time.UnixMilli(n).UTC()
		}
	case "serviceType":
		i.Type, err = readServiceType(value)
	case "uriSpec":
		i.URISpec, err = readURISpec(value)
	case "enabled":
		var enabled bool
		enabled, err = readBool(value)
		i.Disabled = !enabled
	}
	return err
}

// The rest of this file reads values as Jackson does, which takes one type for another: people and scripts
// write instances, too. TestInstancesOfOthers in internal/interop compares both.

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
