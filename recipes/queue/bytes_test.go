package queue

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// vectors are data that Java Curator 5.4.0 has written.
var vectors = map[string][]string{
	"00010001" + "01" + "00000001" + "61" + "02":                                                  {"a"},
	"00010001" + "01" + "00000001" + "78" + "01" + "00000000" + "01" + "00000002" + "797a" + "02": {"x", "", "yz"},
	"00010001" + "02": nil,
}

// Q13: the bytes of nodes with one item, and with several, are Java's.
func TestQ13Bytes(t *testing.T) {
	for text, items := range vectors {
		data, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		var encoded [][]byte
		for _, item := range items {
			encoded = append(encoded, []byte(item))
		}
		if got := encodeItems(encoded); !bytes.Equal(got, data) {
			t.Errorf("%q are encoded as %x, want %s", items, got, text)
		}
		decoded, err := decodeItems(append(data, "ignored"...))
		if err != nil || !slices.EqualFunc(decoded, items, func(b []byte, s string) bool { return string(b) == s }) {
			t.Errorf("%s is decoded as %q, %v", text, decoded, err)
		}
	}
}

// corruptData is what Java calls a corrupt item.
var corruptData = []string{
	"", "000100", "00010002" + "02", "00010001", "00010001" + "03", "00010001" + "01" + "0000",
	"00010001" + "01" + "00000002" + "61", "00010001" + "01" + "ffffffff", "00010001" + "01" + "00000001" + "61",
}

func TestCorruptBytes(t *testing.T) {
	for _, text := range corruptData {
		data, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if items, err := decodeItems(data); !errors.Is(err, errCorrupt) {
			t.Errorf("%q is decoded as %q, %v", text, items, err)
		}
	}
}

func FuzzDecodeItems(f *testing.F) {
	for text := range vectors {
		data, _ := hex.DecodeString(text)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := decodeItems(data)
		if err != nil {
			return
		}
		if again := encodeItems(items); !bytes.HasPrefix(data, again) {
			t.Errorf("%x is decoded as %x, which is encoded as %x", data, items, again)
		}
	})
}

// The names of items are Java's, and so is their order.
func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"queue-100000000": priorityName(0), "queue-100000001": priorityName(1), "queue-1000000FF": priorityName(255),
		"queue-17FFFFFFF": priorityName(math.MaxInt32), "queue-0FFFFFFFF": priorityName(-1), "queue-080000000": priorityName(math.MinInt32),
		"queue-|18BCFE56800|": delayName(time.UnixMilli(1700000000000)), "queue-|000000FF|": delayName(time.UnixMilli(255)),
		"queue-|00000001|":         delayName(time.Unix(0, 1)),
		"queue-|FFFFFFFFFFFFFFFF|": delayName(time.UnixMilli(-1)),
		"queue-|a_b_c|":            idName("a/b|c"), "queue-||": idName(""),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, order := range []struct {
		scheme
		names []string // in order
	}{
		{plainNames, []string{"queue-0000000001", "queue-0000000002", "queue-0000000010"}},
		{priorityNames, []string{
			"queue-0000000009", "queue-0FFFFFFFF0000000007", "queue-1000000000000000008", "queue-1000000010000000003", "queue-1000000010000000004",
		}},
		{idNames, []string{"queue-0000000000", "queue-|z|0000000001", "queue-|a|0000000002", "queue-|a|0000000003"}},
		{delayNames, []string{
			"queue-0000000009", "queue-|FFFFFFFFFFFFFFFF|0000000004", "queue-|none|0000000001",
			"queue-|000000FF|0000000003", "queue-|18BCFE56800|0000000000", "queue-|18BCFE56801|0000000002",
		}},
	} {
		shuffled := slices.Clone(order.names)
		slices.Reverse(shuffled)
		slices.SortStableFunc(shuffled, func(a, b string) int {
			i, j := item{name: a, key: order.key(a)}, item{name: b, key: order.key(b)}
			return i.compare(&j)
		})
		if !slices.Equal(shuffled, order.names) {
			t.Errorf("%s: %q, want %q", order.kind, shuffled, order.names)
		}
	}
}

// Q4: an item that is put back keeps its priority, id or time, and its name does not grow.
func TestPutBackNames(t *testing.T) {
	for _, c := range []struct {
		scheme
		name, prefix string
	}{
		{plainNames, "queue-0000000001", "queue-"},
		{plainNames, "queue--000000001", "queue-"},
		{priorityNames, "queue-1000000FF0000000003", "queue-1000000FF"},
		{priorityNames, "queue-1000000FF-2147483648", "queue-1000000FF"},
		{priorityNames, "queue-0000000003", "queue-"}, // put back by Java
		{idNames, "queue-|a|0000000003", "queue-|a|"},
		{idNames, "queue-||0000000003", "queue-||"},
		{idNames, "queue-0000000003", "queue-"},
		{delayNames, "queue-|18BCFE56800|0000000000", "queue-|18BCFE56800|"},
		{delayNames, "queue-0000000003", "queue-"}, // put back by Java
	} {
		prefix := c.scheme.prefix(c.name)
		if prefix != c.prefix {
			t.Errorf("%s: %s is put back as %q, want %q", c.kind, c.name, prefix, c.prefix)
		}
		if again := c.scheme.prefix(prefix + "0000000004"); again != prefix || !strings.HasPrefix(c.name, prefix) {
			t.Errorf("%s: %s is put back as %q, and then as %q", c.kind, c.name, prefix, again)
		}
	}
	if !hasID("queue-|a_b|0000000003", "a/b") || hasID("queue-|ab|0000000003", "a/b") || hasID("other-|a|0000000003", "a") || hasID("queue-0000000003", "") {
		t.Error("wrong ids")
	}
}
