package model

import (
	"reflect"
	"testing"
)

// TestNoPadding sees that the memory of the types that bytesOf is used for has no gaps: what is in a
// gap would tell equal states apart.
func TestNoPadding(t *testing.T) {
	t.Parallel()
	for _, v := range []any{node{}, transaction{}, request{}, session{}, watchSets{}, lifetime{}, view{}, client{}} {
		typ := reflect.TypeOf(v)
		sum := uintptr(0)
		for f := range typ.Fields() {
			sum += f.Type.Size()
		}
		if sum != typ.Size() {
			t.Errorf("the fields of %s have %d bytes, and the type %d", typ, sum, typ.Size())
		}
	}
}
