package codec_test

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/go-curator/curator/framework/codec"
)

// FuzzCodecs decodes the data of nodes, which anybody may have written. What can be decoded can be
// encoded, and is the same when it is decoded again.
func FuzzCodecs(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{0, 0, 0, 1})
	f.Add([]byte{128, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte("größer"))
	f.Add([]byte(`{"workers":3,"name":"a","other":[1,{"b":null}]}`))
	f.Add([]byte(`{"workers":3}{}`))
	f.Add([]byte(`[[[[[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		bothWays(t, "bytes", codec.Bytes(), data, true)
		bothWays(t, "string", codec.String(), data, true)
		bothWays(t, "int32", codec.Int32(), data, true)
		bothWays(t, "int64", codec.Int64(), data, true)
		bothWays(t, "json", codec.JSON[limits](), data, false)
		bothWays(t, "any json", codec.JSON[any](), data, false)
		if !bytes.Equal(data, before) {
			t.Errorf("%q was changed to %q", before, data)
		}
	})
}

// bothWays decodes, encodes and decodes. exact says that one value has one encoding.
func bothWays[T any](t *testing.T, name string, c codec.Codec[T], data []byte, exact bool) {
	t.Helper()
	value, err := c.Decode(data)
	if err != nil {
		return
	}
	encoded, err := c.Encode(value)
	if err != nil || exact && !bytes.Equal(encoded, data) {
		t.Fatalf("%s: %q is %v, and that %q, %v", name, data, value, encoded, err)
	}
	if again, err := c.Decode(encoded); err != nil || !reflect.DeepEqual(again, value) {
		t.Errorf("%s: %q is %v, and %q is %v, %v", name, data, value, encoded, again, err)
	}
}
