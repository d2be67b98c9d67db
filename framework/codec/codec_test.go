package codec_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/go-curator/curator/framework/codec"
)

type limits struct {
	Workers int    `json:"workers"`
	Name    string `json:"name,omitempty"`
}

// check encodes value, and decodes data. A want of nil says that data cannot be decoded, a nil
// data that value cannot be encoded.
func check[T any](t *testing.T, name string, c codec.Codec[T], value T, data []byte) {
	t.Helper()
	encoded, err := c.Encode(value)
	if data == nil {
		if err == nil {
			t.Errorf("%s: %v was encoded as %q", name, value, encoded)
		}
		return
	}
	if err != nil || !reflect.DeepEqual(encoded, data) {
		t.Errorf("%s: %v was encoded as %q, %v; want %q", name, value, encoded, err, data)
	}
	decoded, err := c.Decode(data)
	if err != nil || !reflect.DeepEqual(decoded, value) {
		t.Errorf("%s: %q was decoded as %v, %v; want %v", name, data, decoded, err, value)
	}
}

func TestBothWays(t *testing.T) {
	check(t, "bytes", codec.Bytes(), []byte{0, 255}, []byte{0, 255})
	check(t, "string", codec.String(), "größer", []byte("größer"))
	check(t, "empty string", codec.String(), "", []byte{})
	check(t, "json", codec.JSON[limits](), limits{Workers: 3}, []byte(`{"workers":3}`))
	check(t, "int32", codec.Int32(), -2, []byte{255, 255, 255, 254})
	check(t, "int32, largest", codec.Int32(), math.MaxInt32, []byte{127, 255, 255, 255})
	check(t, "int64", codec.Int64(), math.MinInt64, []byte{128, 0, 0, 0, 0, 0, 0, 0})

	check(t, "not UTF-8", codec.String(), "\xff", nil)
	check(t, "33 bits", codec.Int32(), math.MaxInt32+1, nil)
	check(t, "33 bits, negative", codec.Int32(), math.MinInt32-1, nil)
	check(t, "not JSON", codec.JSON[func()](), func() {}, nil)
	check(t, "no functions", codec.New[int](nil, nil), 1, nil)
}

func refuses[T any](t *testing.T, name string, c codec.Codec[T], data ...string) {
	t.Helper()
	for _, d := range data {
		if value, err := c.Decode([]byte(d)); err == nil {
			t.Errorf("%s: %q was decoded as %v", name, d, value)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	refuses(t, "string", codec.String(), "\xff")
	refuses(t, "json", codec.JSON[limits](), "", "{", `{"workers":1} {}`, `{"workers":1}x`, `{"workers":"1"}`)
	refuses(t, "int32", codec.Int32(), "", "123", "12345")
	refuses(t, "int64", codec.Int64(), "", "1234", "123456789")
	refuses(t, "no functions", codec.New[int](nil, nil), "1")
}

func TestJSONReadsWhatOthersWrite(t *testing.T) {
	value, err := codec.JSON[limits]().Decode([]byte(" {\"unknown\": [1], \"workers\": 7}\n"))
	if err != nil || value.Workers != 7 {
		t.Errorf("%v, %v", value, err)
	}
}

func TestBytesAreCopied(t *testing.T) {
	data := []byte("abc")
	encoded, err := codec.Bytes().Encode(data)
	decoded, err2 := codec.Bytes().Decode(data)
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	data[0] = 'x'
	if string(encoded) != "abc" || string(decoded) != "abc" {
		t.Errorf("%q and %q have changed with their origin", encoded, decoded)
	}
}
