package discovery

import (
	"fmt"
	"strconv"
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

// Decode reads what Java reads: keys in any order, each of which may be missing or null. See
// reading.go.
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
