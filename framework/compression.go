package framework

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// CompressionProvider compresses data for the step Compressed, and decompresses data for
// Decompressed. All clients of a node must use providers that understand each other, because
// the node does not record whether or how its data was compressed.
//
// Several goroutines may call both methods at the same time. path is without the namespace, and
// for a sequential node without its number. The methods must neither change nor keep the given
// data, and the caller owns the data that they return. The operation returns their errors and
// does not retry.
//
// Java: CompressionProvider.
type CompressionProvider interface {
	// Compress returns what is stored in the node. data may be nil.
	Compress(path string, data []byte) ([]byte, error)
	// Decompress returns the uncompressed data. data may be written by other clients, and may
	// be damaged.
	Decompress(path string, data []byte) ([]byte, error)
}

// ErrDecompress is returned when the compression provider cannot have written the data of a
// node: it is not compressed, cut off, damaged, or unreasonably large. The text says which.
var ErrDecompress = errors.New("cannot decompress")

// maxInflated is the most that a gzip provider decompresses. A node of a megabyte, which servers accept
// by default, can stand for a gigabyte.
const maxInflated = 64 << 20

// GzipCompressionProvider returns the default provider. It writes gzip that Java Curator's
// provider reads, and reads the gzip of that provider and of java.util.zip: one member with any
// header, and no data after it. A header may not have a name or a comment of more than 511
// bytes, which no version of Java writes.
//
// The compressed bytes differ from Java's, except for empty data.
//
// Uncompressed data of more than 64 MiB is refused, with ErrTooLarge when compressing and with
// ErrDecompress when decompressing. ErrDecompress is also returned for empty data, for data
// without gzip's header, and for damage of any kind.
//
// Java: GzipCompressionProvider.
func GzipCompressionProvider() CompressionProvider { return new(gzipProvider) }

// gzipProvider keeps what is costly to make: a writer takes most of a megabyte.
type gzipProvider struct {
	writers sync.Pool // of *gzip.Writer
	readers sync.Pool // of *gzipReader
}

// gzipReader is a reader with its source, which shows what is left behind the member.
type gzipReader struct {
	source bytes.Reader
	gzip.Reader
}

// emptyGzip is what Java Curator writes for no data; package gzip would need 25 bytes.
const emptyGzip = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"

func (p *gzipProvider) Compress(_ string, data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return []byte(emptyGzip), nil
	case len(data) > maxInflated:
		return nil, fmt.Errorf("%w: %d bytes to compress, at most %d", ErrTooLarge, len(data), maxInflated)
	}
	w, ok := p.writers.Get().(*gzip.Writer)
	if !ok {
		w = gzip.NewWriter(nil)
	}
	defer func() {
		w.Reset(nil) // the result is the caller's alone
		p.writers.Put(w)
	}()
	var out bytes.Buffer
	w.Reset(&out)
	w.OS = 0 // as Java Curator up to 5.4, and later ones on old JVMs
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (p *gzipProvider) Decompress(_ string, data []byte) ([]byte, error) {
	r, ok := p.readers.Get().(*gzipReader)
	if !ok {
		r = new(gzipReader)
	}
	defer func() {
		r.source.Reset(nil)
		p.readers.Put(r)
	}()
	inflated, err := r.inflate(data)
	if err != nil {
		return nil, fmt.Errorf("%w %d bytes: %w", ErrDecompress, len(data), err)
	}
	return inflated, nil
}

// inflate reads the one member that data must be.
func (r *gzipReader) inflate(data []byte) ([]byte, error) {
	r.source.Reset(data)
	if err := r.Reset(&r.source); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	r.Multistream(false)
	var out bytes.Buffer
	out.Grow(likelySize(data) + bytes.MinRead)
	if _, err := out.ReadFrom(io.LimitReader(r, maxInflated+1)); err != nil {
		return nil, err
	}
	switch {
	case out.Len() > maxInflated:
		return nil, fmt.Errorf("more than %d bytes", maxInflated)
	case r.source.Len() > 0:
		return nil, fmt.Errorf("%d bytes behind the end", r.source.Len())
	}
	return out.Bytes(), nil
}

// likelySize returns the size that the trailer promises, as far as that is believable: the
// buffer grows if there is more.
func likelySize(data []byte) int {
	if len(data) < 4 {
		return 0
	}
	promised := int64(binary.LittleEndian.Uint32(data[len(data)-4:]))
	return int(min(promised, 16*int64(len(data)), maxInflated))
}
