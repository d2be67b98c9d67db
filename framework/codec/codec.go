// Package codec turns values into the data of nodes and back. Recipes with typed values take a
// [Codec]: shared, queue, modeled, discovery and cache.
//
// The recipe returns an error of Decode, or logs it where no call waits for it. The error
// matches [ErrDecode]. The recipe continues with the other nodes.
//
// Java has an interface for each recipe: QueueSerializer, ModelSerializer, InstanceSerializer.
package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// ErrDecode says that the codec cannot decode the data of a node. In errors of recipes the text
// has the path of the node and the codec's error.
var ErrDecode = errors.New("the data cannot be decoded")

// Codec turns values of T into bytes and back. Several goroutines may call its methods at the
// same time. The methods must neither change nor keep the given bytes.
//
// Java: ModelSerializer, QueueSerializer, InstanceSerializer.
type Codec[T any] interface {
	// Encode returns the data of a node for value.
	Encode(value T) ([]byte, error)
	// Decode returns the value of a node's data. Recipes wrap its error with ErrDecode.
	Decode(data []byte) (T, error)
}

// New returns a codec of two functions. A nil function fails every call with an error that
// says so.
func New[T any](encode func(value T) ([]byte, error), decode func(data []byte) (T, error)) Codec[T] {
	if encode == nil {
		encode = func(T) ([]byte, error) { return nil, errors.New("codec.New got no encode function") }
	}
	if decode == nil {
		decode = func([]byte) (value T, err error) { return value, errors.New("codec.New got no decode function") }
	}
	return functions[T]{encode, decode}
}

type functions[T any] struct {
	encode func(value T) ([]byte, error)
	decode func(data []byte) (T, error)
}

func (f functions[T]) Encode(value T) ([]byte, error) { return f.encode(value) }
func (f functions[T]) Decode(data []byte) (T, error)  { return f.decode(data) }

// Bytes returns the codec that leaves data as it is. Encode and Decode make a copy.
//
// Java: ModelSerializer.raw.
func Bytes() Codec[[]byte] { return New(clone, clone) }

func clone(data []byte) ([]byte, error) { return bytes.Clone(data), nil }

// String returns the codec of UTF-8 text. Other bytes are an error of both directions.
func String() Codec[string] {
	return New(
		func(value string) ([]byte, error) {
			if !utf8.ValidString(value) {
				return nil, errors.New("the text is not UTF-8")
			}
			return []byte(value), nil
		},
		func(data []byte) (string, error) {
			if !utf8.Valid(data) {
				return "", errors.New("the data is not UTF-8")
			}
			return string(data), nil
		},
	)
}

// JSON returns a codec that uses encoding/json, for nodes that Java's JacksonModelSerializer
// reads and writes. Decode ignores keys that T does not have. Data after the value is an error,
// and so is a node without data.
func JSON[T any]() Codec[T] {
	return New(
		func(value T) ([]byte, error) { return json.Marshal(value) },
		func(data []byte) (value T, err error) {
			if len(data) == 0 {
				return value, errors.New("there is no data")
			}
			decoder := json.NewDecoder(bytes.NewReader(data))
			if err := decoder.Decode(&value); err != nil {
				return value, err
			}
			if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
				var none T
				return none, fmt.Errorf("there is data behind the value, at byte %d", decoder.InputOffset())
			}
			return value, nil
		},
	)
}

// Int32 returns the codec of four bytes, big endian, signed, the format of Java's SharedCount
// and DistributedAtomicInteger. Data of another length is an error, and so is a value of more
// than 32 bits.
func Int32() Codec[int] {
	return New(
		func(value int) ([]byte, error) {
			if value < math.MinInt32 || value > math.MaxInt32 {
				return nil, fmt.Errorf("%d has more than 32 bits", value)
			}
			return binary.BigEndian.AppendUint32(nil, uint32(int32(value))), nil
		},
		func(data []byte) (int, error) {
			if len(data) != 4 {
				return 0, fmt.Errorf("there are %d bytes, not 4", len(data))
			}
			return int(int32(binary.BigEndian.Uint32(data))), nil
		},
	)
}

// Int64 returns the codec of eight bytes, big endian, signed, the format of Java's
// DistributedAtomicLong. Data of another length is an error.
func Int64() Codec[int64] {
	return New(
		func(value int64) ([]byte, error) { return binary.BigEndian.AppendUint64(nil, uint64(value)), nil },
		func(data []byte) (int64, error) {
			if len(data) != 8 {
				return 0, fmt.Errorf("there are %d bytes, not 8", len(data))
			}
			return int64(binary.BigEndian.Uint64(data)), nil
		},
	)
}
