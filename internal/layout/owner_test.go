package layout

import (
	"maps"
	"strings"
	"testing"
	"unicode/utf8"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestOwner(t *testing.T) {
	for _, c := range []struct {
		owner      Owner
		data, text string
	}{
		{Owner{Address: "10.1.2.3"}, "10.1.2.3", "10.1.2.3"}, // Java's
		{Owner{}, "", ""},
		{Owner{Address: "node-1"}, "node-1", "node-1"},
		{Owner{Address: "10.1.2.3", Label: "orders-api", Host: "web-7", PID: 4242}, "10.1.2.3\nowner=orders-api\nhost=web-7\npid=4242", "orders-api on web-7, pid 4242"},
		{Owner{Label: "orders-api"}, "\nowner=orders-api", "orders-api"},
		{Owner{Host: "web-7", PID: 1}, "\nhost=web-7\npid=1", "on web-7, pid 1"},
		{Owner{PID: 1}, "\npid=1", "pid 1"},
		{
			Owner{Address: "10.1.2.3", Label: "a", Fields: map[string]string{"tracestate": "x=1", "traceparent": traceparent}},
			"10.1.2.3\nowner=a\ntraceparent=" + traceparent + "\ntracestate=x=1", "a",
		},
	} {
		if got := string(c.owner.Append([]byte(c.owner.Address))); got != c.data {
			t.Errorf("%+v is written as %q, want %q", c.owner, got, c.data)
		}
		got := ParseOwner([]byte(c.data))
		if !equal(got, c.owner) || got.String() != c.text || got.TraceParent() != c.owner.Fields["traceparent"] {
			t.Errorf("%q is read as %+v, %q", c.data, got, got)
		}
	}
}

func equal(a, b Owner) bool {
	return a.Address == b.Address && a.Label == b.Label && a.Host == b.Host && a.PID == b.PID && maps.Equal(a.Fields, b.Fields)
}

// What a reader could not tell from its neighbours is left out, and so are long fields.
func TestOwnerLeftOut(t *testing.T) {
	o := Owner{Label: "a\nb", Host: "\xff", Fields: map[string]string{"": "x", "k=": "x", "empty": "", "long": strings.Repeat("x", MaxField+1), "k": "v\r"}}
	if got := string(o.Append(nil)); got != "" {
		t.Errorf("got %q", got)
	}
	for _, data := range []string{"\xff\nowner=a", "a\nowner", "a\nowner=", "a\n=b", "a\npid=x"} {
		if o := ParseOwner([]byte(data)); o.Label+o.Host != "" || o.PID != 0 || o.Fields != nil {
			t.Errorf("%q is read as %+v", data, o)
		}
	}
	if o := ParseOwner([]byte("\x1b[31mred\nowner=\x1b[31mred")); o.Address != "[31mred" || o.Label != "[31mred" {
		t.Errorf("%+v can control a terminal", o)
	}
}

func TestIsParticipantID(t *testing.T) {
	for data, want := range map[string]bool{
		"node-1": true, "node 1 ": true, "on web-7, pid 3": true,
		"": false, " ": false, "10.1.2.3": false, "::1": false, "10.1.2.3\nowner=a": false, "node-1\nowner=a": false,
		"node-1\nx": false, "\xff": false, RevokeRequest: false,
	} {
		if got := IsParticipantID([]byte(data)); got != want {
			t.Errorf("%q is an id: %t", data, got)
		}
	}
}

// FuzzOwner reads the data of a lock's node, which anybody may have written.
func FuzzOwner(f *testing.F) {
	f.Add([]byte("10.1.2.3\nowner=a\nhost=b\npid=3\ntraceparent=" + traceparent))
	f.Add([]byte("a\nowner=\x1b[31m\npid=-1\nk=\nk=v\nk=w\r\n=x"))
	f.Add([]byte("node-1"))
	f.Add([]byte(RevokeRequest))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		o := ParseOwner(data)
		if !utf8.ValidString(o.String()) || strings.ContainsAny(o.String(), "\n\r\x1b") {
			t.Errorf("%q is read as %q", data, o)
		}
		IsParticipantID(data)
		for key, value := range o.Fields {
			if len(value) > MaxField {
				delete(o.Fields, key)
			}
		}
		if again := ParseOwner(o.Append([]byte(o.Address))); !equal(again, o) {
			t.Errorf("%q is read as %+v, and then as %+v", data, o, again)
		}
	})
}

// A lock's node has them when its acquire is traced, and each waiter reads them.
func TestOwnerAllocations(t *testing.T) {
	o := Owner{Address: "10.1.2.3", Label: "a", Host: "b", PID: 3, Fields: map[string]string{"traceparent": traceparent, "tracestate": "x=1"}}
	data := o.Append([]byte(o.Address))
	buffer := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(100, func() { o.Append(buffer) }); n > 1 {
		t.Errorf("Append makes %v allocations, want at most 1", n)
	}
	if n := testing.AllocsPerRun(100, func() { ParseOwner(data) }); n > 4 {
		t.Errorf("ParseOwner makes %v allocations, want at most 4", n)
	}
}
