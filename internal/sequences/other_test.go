package sequences_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// other is another client of the server, without goroutines. All its nodes are persistent.
type other struct {
	*testing.T
	client *rawclient.Client
	zxid   int64 // of the last reply
}

func newOther(t *testing.T, server *curatortest.Server) *other {
	t.Helper()
	conn, err := server.DialContext(t.Context(), "tcp", server.ConnectString())
	if err != nil {
		t.Fatal(err)
	}
	client, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: int32(time.Hour.Milliseconds()), Passwd: make([]byte, 16)})
	if err != nil {
		t.Fatal(err)
	}
	return &other{T: t, client: client}
}

// close ends the session.
func (o *other) close() {
	o.do(jute.OpClose, nil, nil)
	if err := o.client.Conn.Close(); err != nil {
		o.Error(err)
	}
}

// do sends a request, and decodes what the reply has into res. It returns the error of the server.
func (o *other) do(op jute.Op, req rawclient.Body, res jute.Record) jute.Code {
	o.Helper()
	frame, err := o.client.Do(op, req)
	if err == nil && res != nil && frame.Err == jute.CodeOK {
		err = jute.Decode(frame.Body, res)
	}
	if err != nil {
		o.Fatal(err)
	}
	o.zxid = frame.Zxid
	return frame.Err
}

// ok fails the test if the server has refused a request.
func (o *other) ok(code jute.Code) {
	o.Helper()
	if code != jute.CodeOK {
		o.Fatalf("the server refuses what another client asks for: %d", code)
	}
}

var open = []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}}

// create makes a node and returns its path.
func (o *other) create(path, data string, flags int32) string {
	o.Helper()
	var res jute.Create2Response
	o.ok(o.do(jute.OpCreate2, &jute.CreateRequest{Path: path, Data: []byte(data), ACL: open, Flags: flags}, &res))
	return res.Path
}

// set sets the data of a node.
func (o *other) set(path, data string) {
	o.Helper()
	o.ok(o.do(jute.OpSetData, &jute.SetDataRequest{Path: path, Data: []byte(data), Version: -1}, nil))
}

// delete deletes a node, and reports whether there was one.
func (o *other) delete(path string) bool {
	o.Helper()
	code := o.do(jute.OpDelete, &jute.DeleteRequest{Path: path, Version: -1}, nil)
	if code != jute.CodeNoNode {
		o.ok(code)
	}
	return code == jute.CodeOK
}

// stat returns the Stat of a node, and whether there is one.
func (o *other) stat(path string) (jute.Stat, bool) {
	o.Helper()
	var res jute.StatResponse
	code := o.do(jute.OpExists, &jute.PathWatchRequest{Path: path}, &res)
	if code != jute.CodeNoNode {
		o.ok(code)
	}
	return res.Stat, code == jute.CodeOK
}

// children returns the paths of the children of a node.
func (o *other) children(path string) (paths []string) {
	o.Helper()
	var res jute.GetChildren2Response
	if code := o.do(jute.OpGetChildren2, &jute.PathWatchRequest{Path: path}, &res); code != jute.CodeNoNode {
		o.ok(code)
	}
	for _, name := range res.Children {
		if path == "/" {
			paths = append(paths, "/"+name)
		} else {
			paths = append(paths, path+"/"+name)
		}
	}
	return paths
}

// ephemerals returns the ephemeral nodes at and below a path. All of them are the client's.
func (o *other) ephemerals(path string) (paths []string) {
	o.Helper()
	if stat, ok := o.stat(path); ok && stat.EphemeralOwner != 0 {
		return []string{path}
	}
	for _, child := range o.children(path) {
		paths = append(paths, o.ephemerals(child)...)
	}
	return paths
}
