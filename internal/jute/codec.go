package jute

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Record is a structure of the protocol.
type Record interface {
	// Append appends the record's bytes to b.
	Append(b []byte) []byte
	// Decode reads the record from d, whose Err tells whether it could.
	Decode(d *Decoder)
}

// ErrMalformed is matched by every error of decoding.
var ErrMalformed = errors.New("malformed record")

// AppendInt32 appends a 32-bit integer.
func AppendInt32(b []byte, v int32) []byte { return binary.BigEndian.AppendUint32(b, uint32(v)) }

// AppendInt64 appends a 64-bit integer.
func AppendInt64(b []byte, v int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(v)) }

// AppendBool appends a boolean.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// AppendString appends a string. One that is longer than the protocol can say is cut: no
// frame can hold it, so that the request's size was refused before.
func AppendString(b []byte, s string) []byte {
	s = s[:min(len(s), math.MaxInt32)]
	return append(AppendInt32(b, int32(len(s))), s...)
}

// AppendBuffer appends a buffer; nil is told from empty. For its length see AppendString.
func AppendBuffer(b, v []byte) []byte {
	if v == nil {
		return AppendInt32(b, -1)
	}
	v = v[:min(len(v), math.MaxInt32)]
	return append(AppendInt32(b, int32(len(v))), v...)
}

// vectorLen is the length of a vector as the protocol writes it: -1 says nil.
func vectorLen[T any](v []T) int32 {
	if v == nil {
		return -1
	}
	return int32(min(len(v), math.MaxInt32))
}

// Decoder reads values off a frame. After the first error it returns zero values, so
// that a record can be read whole before Err is looked at.
type Decoder struct {
	rest []byte
	err  error
}

// NewDecoder returns a Decoder of frame.
func NewDecoder(frame []byte) *Decoder { return &Decoder{rest: frame} }

// Err returns the first error, matching ErrMalformed.
func (d *Decoder) Err() error { return d.err }

// Rest returns what has not been read.
func (d *Decoder) Rest() []byte { return d.rest }

// Decode reads r off frame, which may be longer than it.
func Decode(frame []byte, r Record) error {
	d := Decoder{rest: frame}
	r.Decode(&d)
	return d.err
}

// DecodeReplyHeader reads the header of a reply, of which there are many: it allocates nothing.
func DecodeReplyHeader(frame []byte) (h ReplyHeader, err error) {
	d := Decoder{rest: frame}
	h.Decode(&d)
	return h, d.err
}

// Fail makes d fail with what, unless it has failed already.
func (d *Decoder) Fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrMalformed, what)
		d.rest = nil
	}
}

// take returns the next n bytes, or nil and an error.
func (d *Decoder) take(n int, what string) []byte {
	if d.err != nil {
		return nil
	}
	if n < 0 || n > len(d.rest) {
		d.Fail(fmt.Sprintf("%s of %d bytes where %d are left", what, n, len(d.rest)))
		return nil
	}
	taken := d.rest[:n:n]
	d.rest = d.rest[n:]
	return taken
}

// Int32 reads a 32-bit integer.
func (d *Decoder) Int32() int32 {
	if b := d.take(4, "integer"); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads a 64-bit integer.
func (d *Decoder) Int64() int64 {
	if b := d.take(8, "integer"); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Bool reads a boolean.
func (d *Decoder) Bool() bool {
	b := d.take(1, "boolean")
	return b != nil && b[0] != 0
}

// String reads a string; a length of -1, Java's null, is "".
func (d *Decoder) String() string { return string(d.Buffer()) }

// Buffer reads a buffer; a length of -1 is nil. It shares memory with the frame.
func (d *Decoder) Buffer() []byte {
	n := d.Int32()
	if n == -1 || d.err != nil {
		return nil
	}
	return d.take(int(n), "buffer")
}

// count reads the length of a vector whose elements take at least size bytes each, so
// that no more is allocated than the frame can fill. A length of -1 is an empty vector.
func (d *Decoder) count(size int) int {
	n := int(d.Int32())
	if n == -1 || d.err != nil {
		return 0
	}
	if n < 0 || n > len(d.rest)/size {
		d.Fail(fmt.Sprintf("vector of %d elements where %d bytes are left", n, len(d.rest)))
		return 0
	}
	return n
}
