package model

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-curator/curator/internal/telemetry"
)

const (
	maxFacts = 64 << 10 // data that is longer says nothing to recipes
	maxLine  = 120      // of what is kept of the first line
)

// revokeRequest is the data that Curator writes to ask for a lock.
const revokeRequest = "__REVOKE__"

// Facts are what the data of a node says. They are kept in place of the data, which may be long.
// What the data does not say is zero.
type Facts struct {
	Name    string // "orders-api on web-7, pid 4242", or the first line of the data
	Label   string
	Host    string
	PID     int
	ID      bool // Name is an id that somebody gave, not an address or a program
	Asked   bool // somebody has asked for the lock, which has replaced the data
	Service *Service
	Number  *int64 // of a counter
	Bits    int    // of Number
}

// Service is an instance of a service, as Curator's discovery writes it.
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

// Read returns the facts of a node's data.
func Read(data []byte) Facts {
	f := Facts{}
	if len(data) == 0 || len(data) > maxFacts {
		return f
	}
	if string(data) == revokeRequest {
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
	owner := telemetry.ParseOwner(data)
	f.Name, f.Label, f.Host, f.PID = short(owner.String()), short(owner.Label), short(owner.Host), owner.PID
	f.ID = owner.Label == "" && owner.Host == "" && owner.PID == 0 && isID(data)
	return f
}

// isID reports whether data is one line that is no address: Java's default is an address.
func isID(data []byte) bool {
	text := strings.TrimSpace(string(data))
	if text == "" || !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r") {
		return false
	}
	_, err := netip.ParseAddr(text)
	return err != nil
}

// short cuts a text at a character.
func short(text string) string {
	if len(text) <= maxLine {
		return text
	}
	return strings.ToValidUTF8(text[:maxLine], "") + "…"
}

// readService returns the instance that data is, or nil.
func readService(data []byte) *Service {
	if data[0] != '{' || !bytes.Contains(data, []byte(`"serviceType"`)) {
		return nil
	}
	var s struct {
		Name, ID, Address   string
		Port, SSLPort       *int
		RegistrationTimeUTC int64
		ServiceType         string
		Enabled             *bool
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return nil
	}
	found := &Service{
		Name: short(s.Name), ID: short(s.ID), Address: short(s.Address), Type: short(s.ServiceType),
		Disabled: s.Enabled != nil && !*s.Enabled, Registered: s.RegistrationTimeUTC,
	}
	if s.Port != nil {
		found.Port = *s.Port
	}
	if s.SSLPort != nil {
		found.SSLPort = *s.SSLPort
	}
	return found
}

// readNumber returns the number that a counter's data is, or nil for other data. Four or eight
// letters are taken for text.
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
