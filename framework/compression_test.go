package framework_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
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
	random := make([]byte, 1<<20)
	for i := range random {
		random[i] = byte(rand.Int())
	}
	provider := framework.GzipCompressionProvider()
	for _, data := range [][]byte{
		{}, {0}, []byte("hello"), bytes.Repeat([]byte("a"), 10_000), random[:511], random[:65_537], random, make([]byte, 20<<20),
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
	out := bytes.NewBuffer([]byte{0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 2, 7})
	out.WriteString(header)
	if flags&2 != 0 {
		sum := crc32.ChecksumIEEE(out.Bytes())
		out.Write([]byte{byte(sum), byte(sum >> 8)})
	}
	w, err := flate.NewWriter(out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := crc32.ChecksumIEEE([]byte(data))
	out.Write([]byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
	n := len(data)
	out.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	return out.Bytes()
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

// zeros is what n zeros are compressed to, which the provider itself may refuse to do.
func zeros(t testing.TB, n int64) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.CopyN(w, endless{}, n); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestGzipBound(t *testing.T) {
	const most = 64 << 20
	provider := framework.GzipCompressionProvider()
	if got, err := provider.Decompress("/a", zeros(t, most)); err != nil || len(got) != most {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	wantRefused(t, zeros(t, most+1), "more than 67108864 bytes")
	if got, err := provider.Compress("/a", make([]byte, most+1)); got != nil || !errors.Is(err, framework.ErrTooLarge) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := provider.Compress("/a", make([]byte, most)); err != nil || len(got) > 1<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A trailer that promises much costs nothing.
func TestGzipPromises(t *testing.T) {
	data := compress(t, []byte("hello"))
	copy(data[len(data)-4:], []byte{0xff, 0xff, 0xff, 0xff})
	provider := framework.GzipCompressionProvider()
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := provider.Decompress("/a", data); err == nil {
				b.Fatal("accepted")
			}
		}
	})
	if n := result.AllocedBytesPerOp(); n > 8<<10 {
		t.Errorf("%d bytes were allocated", n)
	}
}

func TestGzipConcurrentUse(t *testing.T) {
	provider := framework.GzipCompressionProvider()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			data := bytes.Repeat([]byte{byte(i), byte(i * 7)}, 100*(i+1))
			for range 50 {
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
	f.Add(zeros(f, 1<<20))
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
