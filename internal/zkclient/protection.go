package zkclient

import (
	"crypto/rand"

	"github.com/go-curator/curator/internal/layout"
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
	return layout.ProtectionOf(id)
}
