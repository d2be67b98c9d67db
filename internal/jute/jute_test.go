package jute_test

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-curator/curator/internal/jute"
)

// TestMain has random tests begin from one seed, unless another one is given.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := flag.Lookup("rapid.seed").Value; seed.String() == "0" {
		if err := seed.Set("11"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// records has one of every kind of record.
func records() []jute.Record {
	return []jute.Record{
		&jute.ID{}, &jute.ACL{}, &jute.Stat{}, &jute.ConnectRequest{}, &jute.ConnectResponse{},
		&jute.RequestHeader{}, &jute.ReplyHeader{}, &jute.AuthPacket{}, &jute.WatcherEvent{},
		&jute.CreateRequest{}, &jute.CreateTTLRequest{}, &jute.CreateResponse{}, &jute.Create2Response{},
		&jute.DeleteRequest{}, &jute.PathRequest{}, &jute.PathWatchRequest{}, &jute.StatResponse{},
		&jute.GetDataResponse{}, &jute.SetDataRequest{}, &jute.GetChildrenResponse{},
		&jute.GetChildren2Response{}, &jute.SyncResponse{}, &jute.GetACLResponse{}, &jute.SetACLRequest{},
		&jute.CheckVersionRequest{}, &jute.MultiHeader{}, &jute.ErrorResponse{}, &jute.SetWatches{},
		&jute.SetWatches2{}, &jute.AddWatchRequest{}, &jute.WatchesRequest{},
	}
}

// The bytes are the protocol's: written out by hand once.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		record jute.Record
		want   string
	}{
		{&jute.RequestHeader{Xid: -2, Op: jute.OpPing}, "fffffffe0000000b"},
		{&jute.PathWatchRequest{Path: "/a", Watch: true}, "00000002" + "2f61" + "01"},
		{
			&jute.CreateRequest{
				Path: "/é", Data: []byte{}, Flags: 3,
				ACL: []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}},
			},
			"00000003" + "2fc3a9" + "00000000" + "00000001" + "0000001f" +
				"00000005" + "776f726c64" + "00000006" + "616e796f6e65" + "00000003",
		},
		{&jute.SetDataRequest{Path: "/", Version: -1}, "00000001" + "2f" + "ffffffff" + "ffffffff"},
		{&jute.GetChildrenResponse{}, "ffffffff"},
		{&jute.MultiHeader{Type: -1, Done: true, Err: -1}, "ffffffff" + "01" + "ffffffff"},
	} {
		if got := hex.EncodeToString(c.record.Append(nil)); got != c.want {
			t.Errorf("%T: %s, want %s", c.record, got, c.want)
		}
	}
}

// What is written is read again.
func TestRoundTrip(t *testing.T) {
	for _, r := range records() {
		t.Run(reflect.TypeOf(r).Elem().Name(), rapid.MakeCheck(func(t *rapid.T) {
			want := reflect.New(reflect.TypeOf(r).Elem())
			fill(t, want.Elem())
			frame := want.Interface().(jute.Record).Append(nil)
			got := reflect.New(reflect.TypeOf(r).Elem()).Interface().(jute.Record)
			if err := jute.Decode(append(frame, 1, 2, 3), got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Interface(), got); diff != "" {
				t.Fatal(diff)
			}
			for n := range frame { // and a part of it is an error
				if err := jute.Decode(frame[:n], got); !errors.Is(err, jute.ErrMalformed) {
					t.Fatalf("the first %d of %d bytes: %v", n, len(frame), err)
				}
			}
		}))
	}
}

// fill sets every field; vectors are not empty, since an empty one is read as nil.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(t, field)
		}
	case reflect.Int32:
		v.SetInt(int64(rapid.Int32().Draw(t, "int32")))
	case reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "int64"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "string"))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "buffer"))
			return
		}
		n := rapid.IntRange(1, 3).Draw(t, "n")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i))
		}
	default:
		t.Fatalf("kind %v", v.Kind())
	}
}

// FuzzDecode feeds every record any bytes: it must neither panic nor allocate more than
// a small multiple of what it was given.
func FuzzDecode(f *testing.F) {
	for i, r := range records() {
		f.Add(uint8(i), r.Append(nil))
	}
	f.Add(uint8(0), []byte{0x7f, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, which uint8, frame []byte) {
		all := records()
		r := all[int(which)%len(all)]
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := jute.Decode(frame, r)
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, jute.ErrMalformed) {
			t.Fatalf("error %v", err)
		}
		// An element of a vector takes four times its least size on the wire at most,
		// and the strings' bytes are copied. The rest is the error's, and the fuzzer's own.
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(6*len(frame)+64<<10); got > limit {
			t.Fatalf("%d bytes allocated for a frame of %d", got, len(frame))
		}
	})
}

// Lengths that a frame cannot hold are refused before anything is allocated.
func TestHugeLengths(t *testing.T) {
	for _, n := range []int32{math.MaxInt32, math.MinInt32, -2, 1 << 20} {
		frame := jute.AppendInt32(nil, n)
		for _, r := range []jute.Record{&jute.GetChildrenResponse{}, &jute.CreateResponse{}, &jute.SetACLRequest{}} {
			allocated := testing.AllocsPerRun(1, func() {
				if err := jute.Decode(frame, r); !errors.Is(err, jute.ErrMalformed) {
					t.Errorf("%T with length %d: %v", r, n, err)
				}
			})
			if allocated > 20 {
				t.Errorf("%T with length %d: %v allocations", r, n, allocated)
			}
		}
	}
}

func TestOpNames(t *testing.T) {
	if jute.OpName(jute.OpGetChildren2) != "getChildren2" || jute.OpName(9999) != "" {
		t.Error("OpName")
	}
}
