package model

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/layout"
	"github.com/go-curator/curator/recipes/discovery"
)

const (
	maxFacts = 64 << 10 // longer data is not that of a recipe
	maxLine  = 120      // the maximum length of the part of the first line that is kept
)

// Facts are the facts that the data of a node contains. They are kept instead of the data, which may
// be long. Facts that are not in the data are zero.
type Facts struct {
	Name    string // "orders-api on web-7, pid 4242", or the first line of the data
	Label   string
	Host    string
	PID     int
	ID      bool // Name is a participant's id, not an address or an owner
	Asked   bool // the holder was asked to release the lock; the request has replaced the data
	Service *Service
	Number  *int64 // of a counter
	Bits    int    // of Number
}

// Service is an instance of a service, in the JSON of Curator's x-discovery.
type Service struct {
	Name       string `json:"name"`
	ID         string `json:"id"`
	Address    string `json:"address"`
	Port       int    `json:"port,omitempty"`
	SSLPort    int    `json:"sslPort,omitempty"`
	Type       string `json:"type"`
	Disabled   bool   `json:"disabled,omitempty"`
	Registered int64  `json:"registered,omitempty"` // ms since 1970
}

// Read returns the facts in the data of a node.
func Read(data []byte) Facts {
	f := Facts{}
	if len(data) == 0 || len(data) > maxFacts {
		return f
	}
	if string(data) == layout.RevokeRequest {
		f.Asked = true
		return f
	}
	if f.Service = readService(data); f.Service != nil {
		f.Name = f.Service.ID
		return f
	}
	if f.Number, f.Bits = readNumber(data); f.Number != nil {
		return f
	}
	owner := layout.ParseOwner(data)
	f.Name, f.Label, f.Host, f.PID = short(owner.String()), short(owner.Label), short(owner.Host), owner.PID
	f.ID = layout.IsParticipantID(data)
	return f
}

// short cuts a text that is longer than maxLine bytes, between two characters.
func short(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return strings.ToValidUTF8(text[:maxLine], "") + "…"
}

// readService returns the instance of a service in data, nil if there is none.
func readService(data []byte) *Service {
	if !bytes.Contains(data, []byte(`"serviceType"`)) {
		return nil
	}
	s, err := discovery.JSON[struct{}]().Decode(data) // with any payload
	if err != nil {
		return nil
	}
	found := &Service{
		Name: short(s.Name), ID: short(s.ID), Address: short(s.Address), Port: s.Port, SSLPort: s.SSLPort,
		Type: s.Type.String(), Disabled: s.Disabled,
	}
	if !s.Registered.IsZero() {
		found.Registered = s.Registered.UnixMilli()
	}
	return found
}

// readNumber returns the number in the data of a counter and its bits, nil for other data. Four or
// eight printable characters are not a number, but text.
func readNumber(data []byte) (*int64, int) {
	var n int64
	switch len(data) {
	case 4:
		n = int64(int32(binary.BigEndian.Uint32(data)))
	case 8:
		n = int64(binary.BigEndian.Uint64(data))
	default:
		return nil, 0
	}
	if utf8.Valid(data) && bytes.IndexFunc(data, func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) }) < 0 {
		return nil, 0
	}
	return &n, len(data) * 8
}
