package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
)

// JSON returns the codec of Java's default serializer: UTF-8, compact, the same keys in the same
// order, so that what Java wrote is written the same way again. Keys that are not known are
// ignored and missing ones are zero. Data behind the value is an error.
//
// Payloads are typed in Java. Strings, bools, float64 and integers of up to 32 bits are plain
// JSON, as are ints that fit in 32 bits. Larger integers, int64, float32, []byte and lists are
// written with their Java types, and objects need the name of a class, for which see
// WithPayloadClass. When reading, the type is dropped, whatever class it names: so a T of any
// gets a map[string]any for an object. A T of json.RawMessage has the payload with its types, as
// it is stored, and a T of struct{} has none: it reads instances with any payload, and writes
// null.
//
// Encode fails with framework.ErrInvalidOption for an instance that the format does not have: a
// Disabled one without WithEnabledKey, a text that is not UTF-8, a number that is not finite. Texts
// inside of an object or a list are written as encoding/json does.
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
// "com.acme.Meta". The default for maps is java.util.LinkedHashMap; for structs it is none, which
// Java reads if its payload class is a Map or Object.
//
// Java: the type of the payload object.
func WithPayloadClass(class string) JSONOption {
	return jsonOption(func(c *jsonConfig) { c.class = class })
}

// WithEnabledKey writes the key "enabled", which Curators before 5.0 refuse to read. Without it a
// Disabled instance cannot be written: framework.ErrInvalidOption.
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
	var keys map[string]json.RawMessage // other than a struct's, they are compared with their case
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return i, errors.New("the data is not a JSON object")
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		return i, err
	}
	var millis int64
	var serviceType string
	var spec *struct {
		Parts []uriPart `json:"parts"`
	}
	enabled := true
	for key, to := range map[string]any{
		"name": &i.Name, "id": &i.ID, "address": &i.Address, "registrationTimeUTC": &millis,
		"serviceType": &serviceType, "uriSpec": &spec, "enabled": &enabled,
	} {
		if raw, ok := keys[key]; ok {
			if err := json.Unmarshal(raw, to); err != nil { // which leaves it as it is for null
				return ServiceInstance[T]{}, fmt.Errorf("key %s: %w", key, err)
			}
		}
	}
	if serviceType != "" {
		i.Type, err = parseServiceType(serviceType)
	}
	if err == nil {
		i.Port, err = readPort(keys, "port")
	}
	if err == nil {
		i.SSLPort, err = readPort(keys, "sslPort")
	}
	if err == nil {
		i.Payload, err = readPayload[T](keys["payload"])
	}
	if err != nil {
		return ServiceInstance[T]{}, err
	}
	if millis != 0 {
		i.Registered = time.UnixMilli(millis).UTC()
	}
	if spec != nil {
		i.URISpec.parts = append([]uriPart{}, spec.Parts...)
	}
	i.Disabled = !enabled
	return i, nil
}

// readPort returns a port, which has 32 bits in Java.
func readPort(keys map[string]json.RawMessage, key string) (int, error) {
	var port *int64
	if raw, ok := keys[key]; ok {
		if err := json.Unmarshal(raw, &port); err != nil {
			return 0, fmt.Errorf("key %s: %w", key, err)
		}
	}
	switch {
	case port == nil:
		return 0, nil
	case *port < math.MinInt32 || *port > math.MaxInt32:
		return 0, fmt.Errorf("key %s: %d has more than 32 bits", key, *port)
	}
	return int(*port), nil
}
