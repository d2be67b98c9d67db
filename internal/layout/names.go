package layout

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// numberWidth is the number of digits of a sequence number.
const numberWidth = 10

// Number returns the text after the last mark in a name, if it is a sequence number of the server: ten
// digits, with a minus sign in front of them when the server's counter has wrapped around. Otherwise it
// returns "".
func Number(name, mark string) string {
	i := strings.LastIndex(name, mark)
	if i < 0 {
		return ""
	}
	if number := name[i+len(mark):]; isNumber(number) {
		return number
	}
	return ""
}

func isNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return len(digits) == numberWidth && isDigits(digits)
}

func isDigits(text string) bool {
	for _, d := range []byte(text) {
		if d < '0' || '9' < d {
			return false
		}
	}
	return true
}

// cutNumber splits a name before the sequence number at its end. Without one, number is "".
func cutNumber(name string) (before, number string) {
	i := len(name) - numberWidth
	if i < 0 || !isDigits(name[i:]) {
		return name, ""
	}
	if i > 0 && name[i-1] == '-' {
		i--
	}
	return name[:i], name[i:]
}

// Tail returns the last ten characters of a name, or all of a shorter one. For a sequential node they
// are the digits of its number.
func Tail(name string) string { return name[max(0, len(name)-numberWidth):] }

// Sequence returns the number after the last mark in a name. ok is false if there is none that a server gives
// before its counter wraps around.
func Sequence(name, mark string) (n int64, ok bool) {
	n, err := strconv.ParseInt(Number(name, mark), 10, 32)
	return n, err == nil && n >= 0
}

// Sort returns the names of the contenders of a queue in their order. order returns the text that a
// name is sorted by, "" for a name that is no contender; such names are left out. Equal texts are sorted
// by name, because a server lists children in no order.
func Sort(names []string, order func(name string) string) []string {
	type contender struct{ name, order string }
	all := make([]contender, 0, len(names))
	for _, name := range names {
		if o := order(name); o != "" {
			all = append(all, contender{name, o})
		}
	}
	slices.SortFunc(all, func(a, b contender) int {
		return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.name, b.name))
	})
	queue := make([]string, len(all))
	for i, c := range all {
		queue[i] = c.name
	}
	return queue
}

// A protected node's name is "_c_", a UUID, "-" and the name that was given.
const protectedMark = "_c_"

// Protected returns a name with protection. The id must be a UUID, or the result is not recognized.
func Protected(name, id string) string { return protectedMark + id + "-" + name }

// CutProtection splits a protected name. If a name is not protected, id is "" and rest is the name.
func CutProtection(name string) (id, rest string) {
	text, ok := strings.CutPrefix(name, protectedMark)
	if !ok || len(text) <= uuidLength || text[uuidLength] != '-' || !IsUUID(text[:uuidLength]) {
		return "", name
	}
	return text[:uuidLength], text[uuidLength+1:]
}

const uuidLength = len("00000000-0000-0000-0000-000000000000")

// NewUUID returns the text of a random UUID.
func NewUUID() string {
	var random [16]byte
	rand.Read(random[:]) // never fails
	return UUID(random)
}

// UUID returns the text of a UUID of version 4 with these random bits.
func UUID(random [16]byte) string {
	return string(appendUUID(make([]byte, 0, uuidLength), random))
}

// ProtectionOf returns the beginning of a protected name, with the id of UUID.
func ProtectionOf(random [16]byte) string {
	text := make([]byte, 0, len(protectedMark)+uuidLength+len("-"))
	return string(append(appendUUID(append(text, protectedMark...), random), '-'))
}

func appendUUID(text []byte, random [16]byte) []byte {
	random[6] = random[6]&0x0f | 0x40
	random[8] = random[8]&0x3f | 0x80
	text = hex.AppendEncode(text, random[:4])
	for _, part := range [][]byte{random[4:6], random[6:8], random[8:10], random[10:]} {
		text = hex.AppendEncode(append(text, '-'), part)
	}
	return text
}

// IsUUID reports whether a text has the form of a UUID, with digits of either case.
func IsUUID(text string) bool {
	if len(text) != uuidLength {
		return false
	}
	for i, c := range []byte(text) {
		isDash := i == 8 || i == 13 || i == 18 || i == 23
		if isDash != (c == '-') || !isDash && !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
