package migrations

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkclient"
)

// hashOf returns the hash of a migration, as Java's ExtractingCuratorOp.addToDigest makes it. Of
// each operation it has the path, the number of the operation, and the text that toString returns
// for the request.
func hashOf(client *framework.Client, ops Migration) ([]byte, error) {
	in, rooted := zkclient.Of(client), zkclient.Of(client.UsingNamespace(""))
	h := sha256.New()
	for i := range ops {
		op := zkclient.OpOf(&ops[i])
		if err := in.Refused(i, op); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i+1, &framework.OpError{Op: op.Name, Path: op.Path, Err: err})
		}
		// Java's requests have the namespace in their paths, but not the chroot.
		text, err := digestText(op, rooted.ClientPath)
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i+1, err)
		}
		h.Write(text) // never fails
	}
	return h.Sum(nil), nil
}

// digestText returns what the hash has of one operation.
func digestText(op *zkclient.Op, javaPath func(full string) string) ([]byte, error) {
	var path string
	var t recordText
	switch r := op.Multi.Req.(type) {
	case *jute.CreateRequest:
		path = javaPath(r.Path)
		t.create(path, r.Data, r.ACL, r.Flags)
	case *jute.CreateTTLRequest:
		path = javaPath(r.Path)
		t.create(path, r.Data, r.ACL, r.Flags)
		t.int(r.TTL)
	case *jute.DeleteRequest:
		path = javaPath(r.Path)
		t.string(path)
		t.int(int64(r.Version))
	case *jute.SetDataRequest:
		path = javaPath(r.Path)
		t.string(path)
		t.buffer(r.Data)
		t.int(int64(r.Version))
	case *jute.CheckVersionRequest:
		path = javaPath(r.Path)
		t.string(path)
		t.int(int64(r.Version))
	default:
		return nil, fmt.Errorf("%w: there is no hash of %T", framework.ErrInvalidBuilder, op.Multi.Req)
	}
	return fmt.Appendf(nil, "%s%d%s\n", path, op.Multi.Op, t.text.Bytes()), nil
}

// recordText is the text of a record, as Java's ToStringOutputArchive writes it: values with
// commas between them.
type recordText struct {
	text  bytes.Buffer
	inner bool // a value precedes
}

// value appends one value.
func (t *recordText) value(s string) {
	if t.inner {
		t.text.WriteByte(',')
	}
	t.inner = true
	t.text.WriteString(s)
}

func (t *recordText) int(i int64) { t.value(strconv.FormatInt(i, 10)) }

// javaEscapes are the characters that end a value in the text.
var javaEscapes = strings.NewReplacer("\x00", "%00", "\n", "%0A", "\r", "%0D", "%", "%25", ",", "%2C", "}", "%7D")

func (t *recordText) string(s string) { t.value("'" + javaEscapes.Replace(s)) }

// buffer appends bytes in hexadecimal, each as Java's Integer.toHexString: a byte is signed there,
// and has no zeros ahead of it.
func (t *recordText) buffer(data []byte) {
	var hex strings.Builder
	if len(data) > 0 {
		hex.WriteByte('#')
	}
	for _, b := range data {
		hex.WriteString(strconv.FormatUint(uint64(uint32(int32(int8(b)))), 16))
	}
	t.value(hex.String())
}

// open begins a record or a vector within the record.
func (t *recordText) open(mark string) {
	t.value(mark + "{")
	t.inner = false
}

func (t *recordText) close() {
	t.text.WriteByte('}')
	t.inner = true
}

// create appends the fields that both requests for a create have.
func (t *recordText) create(path string, data []byte, acl []jute.ACL, flags int32) {
	t.string(path)
	t.buffer(data)
	t.open("v")
	for _, a := range acl {
		t.open("s")
		t.int(int64(a.Perms))
		t.open("s")
		t.string(a.ID.Scheme)
		t.string(a.ID.ID)
		t.close()
		t.close()
	}
	t.close()
	t.int(int64(flags))
}
