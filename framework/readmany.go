package framework

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
	"github.com/go-curator/curator/internal/zkconn"
)

// ReadPart is a part of a node that ReadMany reads.
type ReadPart int

// The parts. The Stat comes with each of them.
const (
	// ReadData reads the data, as GetData does.
	ReadData ReadPart = iota + 1
	// ReadChildren reads the names of the children, as GetChildren does.
	ReadChildren
	// ReadStat reads the Stat alone, as CheckExists does, with the permission that this needs. Beside another part it
	// adds nothing.
	ReadStat
)

// Read is one node, as ReadMany has read it.
type Read struct {
	Data     []byte   // with ReadData; decompressed as by GetData without a step
	Children []string // with ReadChildren; in no order
	Stat     Stat     // that of the data, if that was read
	Err      error    // why this node was not read; an *OpError
}

// ReadMany reads the nodes at paths in few round trips, and yields them in the order of paths. Up to 256 reads
// are under way, or wait to be yielded; many are sent in one write. what is what is read of each node, the
// data by default. Data and children together are two requests, so a change may come between them.
//
// Each path has an error of its own, such as ErrNoNode or ErrInvalidPath, and the others go on. A read
// without an answer is repeated as GetData repeats it, together with the reads that were lost with it; when
// the retry policy gives up, each of these paths has the error, and the next ones are tried anew. When ctx has
// ended, or the client is closed, what was answered is still yielded. The first path that was not answered
// then has an error that matches ctx.Err or ErrClosed, and is the last of the sequence. So is the first path
// if the call itself is wrong: ErrNotStarted, ErrInvalidOption for an unknown part. With nil paths that is the
// path "".
//
// Nothing is sent before the first node is asked for. paths is read on the goroutine of the loop, up to 256
// paths ahead of it. It may be infinite, and may use the client, but it cannot wait for results of this
// ReadMany: read a tree level by level. The body of the loop may use the client, too, and may leave the loop:
// then reads that were not sent never are, and no goroutine is left. Each loop over the sequence reads anew.
// A sequence may be used on one goroutine at a time for each loop; a Client is safe for concurrent use.
//
// Memory is bounded by the 256 answers. If these are large, fewer reads are under way, so that they have
// about 16 MiB, by the size of the last ones; the first 256 answers may be larger.
//
// A span and a metric named readMany stand for the whole. With WithReadOnly the answers may be old. The
// nodes are not read at one moment: see Transaction for that.
//
// Java: none; AsyncWrappers.childrenWithData reads all children of a node.
func (c *Client) ReadMany(ctx context.Context, paths iter.Seq[string], what ...ReadPart) iter.Seq2[string, Read] {
	return func(yield func(string, Read) bool) {
		in := c.inside()
		parts, err := partsOf(what)
		switch {
		case paths == nil:
			yield("", Read{Err: &OpError{Op: "readMany", Err: fmt.Errorf("%w: ReadMany without paths", ErrInvalidOption)}})
			return
		case in == nil:
			err = &OpError{Op: "readMany", Err: zkclient.ErrNilClient}
		case err != nil:
			err = &OpError{Op: "readMany", Err: err}
		default:
			err = in.ReadMany(ctx, parts.reads(in, paths), func(r *zkclient.NodeRead) bool {
				return yield(r.Path, resultOf(in, r))
			})
		}
		if err == nil {
			return
		}
		for path := range paths {
			yield(path, Read{Err: err})
			return
		}
	}
}

// readParts says what is read of each node.
type readParts struct{ data, children bool }

func partsOf(what []ReadPart) (p readParts, err error) {
	p.data = len(what) == 0
	for _, part := range what {
		switch part {
		case ReadData:
			p.data = true
		case ReadChildren:
			p.children = true
		case ReadStat:
		default:
			return p, fmt.Errorf("%w: there is no ReadPart %d", ErrInvalidOption, int(part))
		}
	}
	return p, nil
}

// reads yields what is to be sent for each of paths.
func (p readParts) reads(in *zkclient.Client, paths iter.Seq[string]) iter.Seq[*zkclient.NodeRead] {
	return func(yield func(*zkclient.NodeRead) bool) {
		for path := range paths {
			if !yield(p.read(in, path)) {
				return
			}
		}
	}
}

func (p readParts) read(in *zkclient.Client, path string) *zkclient.NodeRead {
	full, err := in.ServerPath(path)
	if err == nil {
		err = in.Schemas().ValidateRead(path, false)
	}
	r := &zkclient.NodeRead{Path: path, Full: full}
	if p.data {
		r.Calls = append(r.Calls, zkconn.GetData(full, nil))
	}
	if p.children {
		r.Calls = append(r.Calls, zkconn.List(full, nil))
	}
	if !p.data && !p.children {
		r.Calls = append(r.Calls, zkconn.Exists(full, nil))
	}
	const around = 13 // the xid, the operation, the length of the path, the watch
	if size := len(full) + around; err == nil && size > in.MaxRequest() {
		err = fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, in.MaxRequest())
	}
	if err != nil {
		r.Err = &OpError{Op: zkclient.Word(r.Calls[0]), Path: path, Err: err}
	}
	return r
}

// resultOf returns what was read.
func resultOf(in *zkclient.Client, r *zkclient.NodeRead) (read Read) {
	if r.Err != nil {
		return Read{Err: r.Err}
	}
	for i, call := range r.Calls {
		err := call.Err
		if i == 0 && err == nil {
			read.Stat = newStat(*call.Stat())
			read.Data, err = decompressed(in, r.Full, call)
		}
		if err != nil {
			return Read{Err: &OpError{Op: zkclient.Word(call), Path: r.Path, Attempts: 1, Err: err}}
		}
		if names := call.Names(); names != nil {
			read.Children = names
		}
	}
	return read
}

// decompressed returns the data of a read, nil if it is not one of data.
func decompressed(in *zkclient.Client, full string, call *zkconn.Call) ([]byte, error) {
	if call.Op != jute.OpGetData {
		return nil, nil
	}
	data, err := in.Data(full, call.Data(), zkclient.AsConfigured)
	if err != nil {
		return nil, fmt.Errorf("decompress the data: %w", err)
	}
	return data, nil
}
