package txnlog_test

import (
	"encoding/binary"
	"hash/adler32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/verify/chaos/txnlog"
)

// acl is one entry.
var acl = []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}}

// header begins a transaction.
func header(zxid int64, op jute.Op) []byte {
	b := jute.AppendInt64(nil, 7)
	b = jute.AppendInt32(b, 1)
	b = jute.AppendInt64(b, zxid)
	b = jute.AppendInt64(b, 1000+zxid)
	return jute.AppendInt32(b, op)
}

// create is the record of a creation; number counts those below the parent.
func create(path string, ephemeral bool, number int32) []byte {
	b := jute.AppendBuffer(jute.AppendString(nil, path), []byte("data"))
	b = jute.AppendInt32(b, int32(len(acl)))
	b = acl[0].Append(b)
	return jute.AppendInt32(jute.AppendBool(b, ephemeral), number)
}

// multi is the record of several operations, each with its type.
func multi(parts ...any) []byte {
	b := jute.AppendInt32(nil, int32(len(parts)/2))
	for i := 0; i < len(parts); i += 2 {
		b = jute.AppendBuffer(jute.AppendInt32(b, parts[i].(jute.Op)), parts[i+1].([]byte))
	}
	return b
}

// file returns a log with these transactions, and with what else is behind them.
func file(rest []byte, txns ...[]byte) []byte {
	b := append([]byte("ZKLG"), 0, 0, 0, 2)
	b = jute.AppendInt64(b, 0)
	for _, t := range txns {
		b = binary.BigEndian.AppendUint64(b, uint64(adler32.Checksum(t)))
		b = append(jute.AppendBuffer(b, t), 'B')
	}
	return append(b, rest...)
}

// folder returns a server's data folder with logs.
func folder(t *testing.T, logs ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "version-2"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, log := range logs {
		name := filepath.Join(dir, "version-2", "log."+string(rune('1'+i)))
		if err := os.WriteFile(name, log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCommitted(t *testing.T) {
	one := append(header(1, jute.OpCreate), create("/a", true, 1)...)
	two := append(header(2, jute.OpMulti), multi(jute.OpCreate, create("/b", false, 2), jute.OpCheck, jute.AppendString(nil, "/a"), jute.OpDelete, jute.AppendString(nil, "/a"))...)
	failed := append(header(3, jute.OpMulti), multi(jute.OpCreate, create("/c", false, 3), jute.OpError, jute.AppendInt32(nil, -101))...)
	ends := header(4, jute.OpClose)
	lost := append(header(5, jute.OpDelete), jute.AppendString(nil, "/b")...)
	reserved := make([]byte, 100)
	dirs := []string{
		folder(t, file(reserved, one, two), file(nil, failed, ends)),
		folder(t, file(nil, one, two, failed, ends, lost)),
		folder(t, file([]byte{1, 2, 3}, one), nil), // it has died, and has gone on from a snapshot
	}
	got, _, err := txnlog.Committed(dirs)
	if err != nil {
		t.Fatal(err)
	}
	want := []txnlog.Txn{
		{Zxid: 1, Session: 7, Time: 1001, Changes: []txnlog.Change{{Op: jute.OpCreate, Path: "/a", Ephemeral: true, Cversion: 1}}},
		{Zxid: 2, Session: 7, Time: 1002, Changes: []txnlog.Change{{Op: jute.OpCreate, Path: "/b", Cversion: 2}, {Op: jute.OpDelete, Path: "/a"}}},
		{Zxid: 3, Session: 7, Time: 1003},
		{Zxid: 4, Session: 7, Time: 1004, Ends: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestDropped has transactions that all servers have logged, and that those of a later epoch contradict.
func TestDropped(t *testing.T) {
	const later = int64(1) << 32
	made := func(zxid int64, path string, number int32) []byte {
		return append(header(zxid, jute.OpCreate), create(path, path == "/own", number)...)
	}
	removed := func(zxid int64, path string) []byte {
		return append(header(zxid, jute.OpDelete), jute.AppendString(nil, path)...)
	}
	for name, c := range map[string]struct {
		txns    [][]byte
		dropped []int64
	}{
		"none": {[][]byte{made(1, "/own", 1), removed(2, "/own"), made(3, "/own", 2), header(4, jute.OpClose), made(later+1, "/own", 3)}, nil},
		"a number twice": {[][]byte{made(1, "/a", 1), made(2, "/b", 2), made(3, "/c", 3), removed(4, "/a"), made(later+1, "/d", 2), removed(later+2, "/a")},
			[]int64{2, 3, 4}},
		"a node twice":         {[][]byte{made(1, "/own", 1), made(later+1, "/own", 2)}, []int64{1}},
		"a deletion twice":     {[][]byte{made(1, "/a", 1), removed(2, "/a"), removed(later+1, "/a")}, []int64{2}},
		"the end of a session": {[][]byte{made(1, "/own", 1), header(2, jute.OpClose), removed(later+1, "/own")}, []int64{2}},
		"a new parent":         {[][]byte{made(1, "/a", 1), made(2, "/a/b", 1), removed(3, "/a/b"), removed(4, "/a"), made(later+1, "/a", 2), made(later+2, "/a/b", 1)}, nil},
	} {
		committed, dropped, err := txnlog.Committed([]string{folder(t, file(nil, c.txns...))})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, d := range dropped {
			got = append(got, d.Zxid)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.dropped) || len(committed)+len(dropped) != len(c.txns) {
			t.Errorf("%s: dropped %v, want %v; %d are left", name, got, c.dropped, len(committed))
		}
	}
}

func TestDamaged(t *testing.T) {
	good := append(header(1, jute.OpCreate), create("/a", true, 1)...)
	damaged := file(nil, good)
	damaged[len(damaged)-3] ^= 1
	for name, c := range map[string]struct {
		log    []byte
		errors bool
	}{
		"no log":             {[]byte("this is something else altogether"), true},
		"an unknown version": {append([]byte("ZKLG"), make([]byte, 20)...), true},
		"a record too short": {file(nil, header(1, jute.OpCreate)), true},
		"a wrong checksum":   {damaged, false}, // written in part when the server died
		"nothing":            {nil, false},
	} {
		got, _, err := txnlog.Committed([]string{folder(t, c.log)})
		if (err != nil) != c.errors || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
