package zkclient

import (
	"crypto/rand"
	"encoding/hex"
)

// protection makes the beginnings of protected names: "_c_", a UUID, "-". The first half of all
// UUIDs of a client is the same, so that it knows its nodes by their names.
type protection struct {
	half [6]byte
	text string // how all the names begin
}

func newProtection() (p protection) {
	rand.Read(p.half[:]) // never fails
	p.text = p.prefix()[:len("_c_")+2*len(p.half)+len("-")]
	return p
}

// prefix returns a new beginning.
func (p protection) prefix() string {
	var id [16]byte
	rand.Read(id[copy(id[:], p.half[:]):]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	b := append(make([]byte, 0, len("_c_")+36+len("-")), "_c_"...)
	for _, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		b = append(hex.AppendEncode(b, part), '-')
	}
	return string(b)
}
