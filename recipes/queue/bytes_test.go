package queue

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/go-curator/curator/internal/suite"
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
		data := suite.Got(hex.DecodeString(text)).OK(t)
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
		data := suite.Got(hex.DecodeString(text)).OK(t)
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
