package framework_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
)

// What Java Curator 5.4.0 wrote.
const (
	javaEmpty = "1f8b08000000000000000300" + "0000000000000000"
	javaHello = "1f8b0800000000000000cb48cdc9c907" + "0086a6103605000000"
)

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compress returns what gzip makes of data.
func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	compressed, err := framework.GzipCompressionProvider().Compress("/a", data)
	if err != nil {
		t.Fatal(err)
	}
	return compressed
}

// wantDecompressed fails unless gzip makes want of data.
func wantDecompressed(t testing.TB, data []byte, want string) {
	t.Helper()
	got, err := framework.GzipCompressionProvider().Decompress("/a", data)
	if err != nil || string(got) != want {
		t.Fatalf("decompressed %x to %d bytes: %v", data[:min(len(data), 40)], len(got), err)
	}
	if got == nil {
		t.Fatal("nil in place of no bytes")
	}
}

// wantRefused fails unless gzip refuses data.
func wantRefused(t testing.TB, data []byte, text string) {
	t.Helper()
	got, err := framework.GzipCompressionProvider().Decompress("/a", data)
	if got != nil || !errors.Is(err, framework.ErrDecompress) || !strings.Contains(err.Error(), text) {
		t.Fatalf("decompressed %x to %q: %v, want %s", data[:min(len(data), 40)], got[:min(len(got), 40)], err, text)
	}
}

func TestGzipVectors(t *testing.T) {
	if got := hex.EncodeToString(compress(t, nil)); got != javaEmpty {
		t.Errorf("empty data is %s", got)
	}
	if got := hex.EncodeToString(compress(t, []byte{})); got != javaEmpty {
		t.Errorf("empty data is %s", got)
	}
	if got := compress(t, []byte("hello")); !strings.HasPrefix(javaHello, hex.EncodeToString(got[:10])) {
		t.Errorf("header %x", got[:10])
	}
	wantDecompressed(t, unhex(t, javaEmpty), "")
	wantDecompressed(t, unhex(t, javaHello), "hello")
	wantDecompressed(t, unhex(t, strings.Replace(javaHello, "000000cb", "0000ffcb", 1)), "hello") // a JVM from 16 on
}

func TestGzipRoundTrip(t *testing.T) {
	random := make([]byte, 200_000)
	if _, err := rand.NewChaCha8([32]byte{}).Read(random); err != nil {
		t.Fatal(err)
	}
	provider := framework.GzipCompressionProvider()
	for _, data := range [][]byte{
		{}, {0}, []byte("hello"), bytes.Repeat([]byte("a"), 10_000), random[:511], random[:65_537], random, make([]byte, 1<<20),
	} {
		before := bytes.Clone(data)
		compressed, err := provider.Compress("/a", data)
		if err != nil {
			t.Fatal(err)
		}
		kept := bytes.Clone(compressed)
		got, err := provider.Decompress("/a", compressed)
		if err != nil || !bytes.Equal(got, before) {
			t.Errorf("%d bytes became %d: %v", len(before), len(got), err)
		}
		// Nothing that was returned is used again.
		if _, err := provider.Compress("/a", []byte("other")); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, before) || !bytes.Equal(compressed, kept) || !bytes.Equal(got, before) {
			t.Error("what belongs to the caller was changed")
		}
	}
}

// member returns a gzip member with flags, and what these say is in the header.
func member(t testing.TB, flags byte, header, data string) []byte {
	t.Helper()
	head := append([]byte{0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 2, 7}, header...)
	if flags&2 != 0 {
		head = binary.LittleEndian.AppendUint16(head, uint16(crc32.ChecksumIEEE(head)))
	}
	body := append(deflate(t, []byte(data)), lastBlock...)
	return withTrailer(append(head, body...), []byte(data))
}

// lastBlock ends the blocks of a member.
const lastBlock = "\x01\x00\x00\xff\xff"

// deflate returns blocks that others can follow.
func deflate(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func withTrailer(out, data []byte) []byte {
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}

func TestGzipHeaders(t *testing.T) {
	for flags, header := range map[byte]string{
		0: "", 1: "", 2: "", 4: "\x03\x00abc", 8: "na\xefme\x00", 16: "comment\x00", 31: "\x00\x00n\x00c\x00", 30: "\x01\x00xn\x00c\x00",
	} {
		wantDecompressed(t, member(t, flags, header, "hello"), "hello")
	}
	damaged := member(t, 2, "", "hello")
	damaged[4]++ // the time, which the header's checksum covers
	wantRefused(t, damaged, "invalid header")
	wantRefused(t, member(t, 8, strings.Repeat("n", 600)+"\x00", "hello"), "invalid header")
}

func TestGzipRefuses(t *testing.T) {
	hello := compress(t, []byte("hello"))
	long := compress(t, bytes.Repeat([]byte("hello"), 1000))
	for _, tt := range []struct {
		data []byte
		want string
	}{
		{nil, "cannot decompress 0 bytes: unexpected EOF"},
		{[]byte{}, "unexpected EOF"},
		{[]byte("hello, this is plain text"), "gzip: invalid header"},
		{make([]byte, 100), "gzip: invalid header"},
		{append(bytes.Clone(hello), 0), "1 bytes behind the end"},
		{append(bytes.Clone(hello), hello...), "bytes behind the end"},
		{long[:len(long)/2], "unexpected EOF"},
	} {
		wantRefused(t, tt.data, tt.want)
	}
	// The checksum and the length in the trailer.
	for _, i := range []int{1, 4, 5, 8} {
		damaged := bytes.Clone(hello)
		damaged[len(damaged)-i]++
		wantRefused(t, damaged, "invalid checksum")
	}
}

// As Java's TestGzipCompressionProvider: what is cut off or damaged is refused, or what is
// read is right.
func TestGzipDamage(t *testing.T) {
	const text = "Some text that compresses, compresses, compresses."
	for _, whole := range [][]byte{compress(t, []byte(text)), member(t, 31, "\x01\x00xn\x00c\x00", text)} {
		for n := range whole {
			wantRefused(t, whole[:n], "")
		}
		provider := framework.GzipCompressionProvider()
		for i := range whole {
			for value := range 256 {
				damaged := bytes.Clone(whole)
				damaged[i] = byte(value)
				got, err := provider.Decompress("/a", damaged)
				if err == nil && string(got) != text || err != nil && (got != nil || !errors.Is(err, framework.ErrDecompress)) {
					t.Fatalf("byte %d is %d: %q, %v", i, value, got, err)
				}
			}
		}
	}
}

// bomb returns a member of so many mebibytes of zeros, and a tail.
func bomb(t testing.TB, size int, tail string) []byte {
	t.Helper()
	const mebibyte = 1 << 20
	out := append([]byte{0x1f, 0x8b, 8}, make([]byte, 7)...)
	out = append(out, bytes.Repeat(deflate(t, make([]byte, mebibyte)), size)...)
	out = append(append(out, deflate(t, []byte(tail))...), lastBlock...)
	return withTrailer(out, append(make([]byte, size*mebibyte), tail...))
}

func TestGzipBound(t *testing.T) {
	const most = 64 << 20
	provider := framework.GzipCompressionProvider()
	zeros := make([]byte, most+1)
	head := bomb(t, 0, "")[:10]
	// Blocks that are stored as they are take less time here than compressed ones, and less memory.
	const part = 1 << 15
	whole := append(make([]byte, 0, most+most/part*5+100), head...)
	for range most / part {
		whole = append(append(whole, 0, part&0xff, part>>8, ^part&0xff, ^part>>8&0xff), zeros[:part]...)
	}
	got, err := provider.Decompress("/a", withTrailer(append(whole, lastBlock...), zeros[:most]))
	if err != nil || len(got) != most {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	// One byte more is too much. Nothing is read beyond it, or this would be found to end too early.
	whole = append(whole, deflate(t, []byte("x"))...)
	wantRefused(t, binary.LittleEndian.AppendUint32(whole, most+1), "more than 67108864 bytes")
	if got, err := provider.Compress("/a", zeros); got != nil || !errors.Is(err, framework.ErrTooLarge) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A trailer that promises much costs nothing.
func TestGzipPromises(t *testing.T) {
	data := compress(t, []byte("hello"))
	copy(data[len(data)-4:], []byte{0xff, 0xff, 0xff, 0xff})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	wantRefused(t, data, "invalid checksum")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

func TestGzipConcurrentUse(t *testing.T) {
	provider := framework.GzipCompressionProvider()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			data := bytes.Repeat([]byte{byte(i), byte(i * 7)}, 100*(i+1))
			for range 10 {
				compressed, err := provider.Compress("/a", data)
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := provider.Decompress("/a", compressed); err != nil || !bytes.Equal(got, data) {
					t.Errorf("goroutine %d: %v", i, err)
				}
				if _, err := provider.Decompress("/a", compressed[:len(compressed)-1]); err == nil {
					t.Error("cut off and taken")
				}
			}
		})
	}
	all.Wait()
}

// Whatever the data: no panic, an error that can be told, and what is taken can be
// compressed again.
func FuzzGzip(f *testing.F) {
	f.Add(unhex(f, javaEmpty))
	f.Add(unhex(f, javaHello))
	f.Add(compress(f, []byte("hello")))
	f.Add(member(f, 31, "\x01\x00xn\x00c\x00", "hello"))
	f.Add([]byte("plain text"))
	f.Add(bomb(f, 1, "x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		wantDecompressed(t, compress(t, data), string(data))
		before := bytes.Clone(data)
		got, err := framework.GzipCompressionProvider().Decompress("/a", data)
		if !bytes.Equal(data, before) {
			t.Fatal("the data was changed")
		}
		if err == nil {
			wantDecompressed(t, compress(t, got), string(got))
		} else if got != nil || !errors.Is(err, framework.ErrDecompress) {
			t.Fatalf("%x, %v", got, err)
		}
	})
}
