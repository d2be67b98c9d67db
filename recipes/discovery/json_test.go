package discovery_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/discovery"
)

// vectors are what Java's serializer writes, by the names that internal/interop gives them, and
// whether there is the key enabled. It writes the file; see its TestInstanceVectors.
func vectors(t testing.TB) map[string]string {
	t.Helper()
	data := suite.Got(os.ReadFile(filepath.Join("testdata", "jackson.txt"))).OK(t)
	all := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		all[name] = text
	}
	return all
}

// same checks that a vector is an instance, in both directions.
func same[T any](t *testing.T, vector string, want discovery.ServiceInstance[T], opts ...discovery.JSONOption) {
	t.Helper()
	data, ok := vectors(t)[vector]
	if !ok {
		t.Errorf("there is no vector %s", vector)
		return
	}
	c := discovery.JSON[T](opts...)
	got, err := c.Decode([]byte(data))
	if diff := cmp.Diff(want, got, equalInstances); err != nil || diff != "" {
		t.Errorf("%s was decoded otherwise, %v:\n%s", vector, err, diff)
	}
	if back, err := c.Encode(want); err != nil || string(back) != data {
		t.Errorf("%s: encoded\n%s, %v, want\n%s", vector, back, err, data)
	}
}

// holds checks that a vector has a payload, in both directions.
func holds[T any](t *testing.T, vector string, payload T, opts ...discovery.JSONOption) {
	t.Helper()
	same(t, vector, discovery.ServiceInstance[T]{
		Name: "foo", ID: "id", Address: "host", Port: 1, Payload: payload, Registered: time.UnixMilli(1).UTC(),
	}, opts...)
}

func parse(t *testing.T, template string) discovery.URISpec {
	t.Helper()
	spec := suite.Got(discovery.ParseURISpec(template)).OK(t)
	return spec
}

// The bytes are Java's, in both modes.
func TestVectors(t *testing.T) {
	full := instance{
		Name: "foo", ID: "id1", Address: "1.2.3.4", Port: 10, SSLPort: 11, Payload: "pay",
		Registered: time.UnixMilli(1325129459728).UTC(), URISpec: parse(t, "{scheme}://{address}:{port}"),
	}
	same(t, "full", full)
	same(t, "full,enabled", full, discovery.WithEnabledKey())
	disabled := full
	disabled.SSLPort, disabled.URISpec, disabled.Disabled = 0, discovery.URISpec{}, true
	same(t, "disabled,enabled", disabled, discovery.WithEnabledKey())
	type none = discovery.ServiceInstance[any]
	same(t, "empty", none{Name: "foo", ID: "id"})
	same(t, "template", none{Name: "foo", ID: "id", Type: discovery.Static, URISpec: parse(t, "{[}{ name }{]}/{other}{}a b")})
	same(t, "no-template", none{Name: "foo", ID: "id", Type: discovery.Static, URISpec: parse(t, "")})
	for kind, vector := range map[discovery.ServiceType]string{
		discovery.Static: "static", discovery.Permanent: "permanent", discovery.DynamicSequential: "sequential",
	} {
		same(t, vector, none{Name: "foo", ID: "id", Address: "host", Port: 1, Registered: time.UnixMilli(1).UTC(), Type: kind})
	}
}

type place struct {
	Zone   *string            `json:"zone"`
	Load   float64            `json:"load"`
	Weight int                `json:"weight"`
	Since  int64              `json:"since"`
	Tags   []string           `json:"tags"`
	Shares map[string]float64 `json:"shares"`
}

// springPayload is that of Spring Cloud ZooKeeper.
type springPayload struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Metadata any    `json:"metadata"`
}

func TestPayloads(t *testing.T) {
	text := "grüße 日本 😀 \"quoted\" \\ / < > & ' \u2028\u007f\u0000\u001f\b\t\n\f\r"
	holds(t, "text", text)
	holds[any](t, "text", text)
	holds(t, "bool", true)
	holds(t, "int", -5)
	holds(t, "int", int32(-5))
	holds[any](t, "int", -5)
	holds(t, "long", int64(5))
	holds[any](t, "long", int64(5))
	holds(t, "large", int64(5_000_000_000))
	holds(t, "large", 5_000_000_000)
	holds(t, "double", 1.5)
	holds[any](t, "double", 1.5)
	holds(t, "float", float32(0.1))
	holds[any](t, "float", float32(0.1))
	holds(t, "bytes", []byte{1, 2, 255})
	holds[any](t, "bytes", []byte{1, 2, 255})
	holds(t, "list", []string{"a", "b"})
	holds[any](t, "list", []any{"a", "b"})
	members := map[string]any{
		"a": 1, "b": 5_000_000_000, "c": 2.0, "d": []any{1, "x", nil}, "e": map[string]any{"f": 1e21},
	}
	holds(t, "map", members)
	holds[any](t, "map", members)
	holds(t, "no-members", map[string]string{})
	north := "north"
	full := place{&north, 100, 3, 5_000_000_000, []string{"a", "b"}, map[string]float64{"x": 0.5, "y": 1}}
	holds(t, "place", full, discovery.WithPayloadClass("Instances$Place"))
	holds(t, "place", &full, discovery.WithPayloadClass("Instances$Place"))
	holds(t, "no-place", place{}, discovery.WithPayloadClass("Instances$Place"))
	holds(t, "array", json.RawMessage(`["[Ljava.lang.String;",["a"]]`))
	holds(t, "date", json.RawMessage(`["java.util.Date",0]`))
	holds[*place](t, "empty-payload", nil)
	holds(t, "empty-payload", struct{}{})
	holds[json.RawMessage](t, "empty-payload", nil)

	same(t, "spring", discovery.ServiceInstance[springPayload]{
		Name: "orders", ID: "0a1b2c3d-0000-4000-8000-123456789abc", Address: "10.0.0.7", Port: 8080,
		Payload:    springPayload{"orders-1", "orders", map[string]any{"instance_status": "UP", "zone": "north"}},
		Registered: time.UnixMilli(1700000000123).UTC(), URISpec: parse(t, "{scheme}://{address}:{port}"),
	}, discovery.WithPayloadClass("org.springframework.cloud.zookeeper.discovery.ZookeeperInstance"))
}

// Numbers are Java's, whatever their size.
func TestDoubles(t *testing.T) {
	for name := range vectors(t) {
		var want float64
		if text, ok := strings.CutPrefix(name, "number:"); ok && json.Unmarshal([]byte(text), &want) == nil {
			holds(t, name, want)
		}
	}
}

// Readers take what Java's takes, and what it does not.
func TestDecode(t *testing.T) {
	decode(t, `{}`, instance{})
	decode(t, ` {"name": null, "address": null, "port": null, "payload": null, "uriSpec": null, "serviceType": null} `, instance{})
	decode(t, `{"enabled":null}`, instance{Disabled: true})
	for _, enabled := range []string{`false`, `"false"`, `" FALSE "`, `0`, `-0`, `""`} {
		decode(t, `{"enabled":`+enabled+`}`, instance{Disabled: true})
	}
	for _, enabled := range []string{`true`, `"True"`, `1`, `-7`, `99999999999999999999`} {
		decode(t, `{"enabled":`+enabled+`}`, instance{})
	}
	decode(t, `{"port":"8080","sslPort":8443.9,"registrationTimeUTC":"1"}`, instance{Port: 8080, SSLPort: 8443, Registered: time.UnixMilli(1).UTC()})
	decode(t, `{"port":8.08e3,"sslPort":" +7 ","registrationTimeUTC":1e3}`, instance{Port: 8080, SSLPort: 7, Registered: time.UnixMilli(1000).UTC()})
	decode(t, `{"port":"","sslPort":"null","registrationTimeUTC":" "}`, instance{})
	decode(t, `{"registrationTimeUTC":9223372036854775807.5}`, instance{Registered: time.UnixMilli(math.MaxInt64).UTC()})
	for number, kind := range map[string]discovery.ServiceType{`0`: discovery.Dynamic, `1`: discovery.Static, `" 2 "`: discovery.Permanent, `"3"`: discovery.DynamicSequential} {
		decode(t, `{"serviceType":`+number+`}`, instance{Type: kind})
	}
	decode(t, `{"uriSpec":"{scheme}://{ address }"}`, instance{URISpec: parse(t, "{scheme}://{address}")})
	decode(t, `{"uriSpec":{"other":{},"parts":[ {"value":5,"variable":0}, {"variable":"true","value":"a","other":[]} ]}}`, instance{URISpec: parse(t, "5{a}")})
	decode(t, "\ufeff "+`{"name":5,"id":true,"address":1.50}`, instance{Name: "5", ID: "true", Address: "1.50"})
	decode(t, `{"enabled":false,"unknown":[1,{"name":"x"}],"id":"a","Name":"x","name":"b"}`, instance{Name: "b", ID: "a", Disabled: true})
	decode(t, `{"payload":{"a":1,"@class":"x"}}`, discovery.ServiceInstance[map[string]int]{Payload: map[string]int{"a": 1}})
	decode(t, `{"payload":{"a":{"@class":"x"}}}`, discovery.ServiceInstance[map[string]any]{Payload: map[string]any{"a": map[string]any{"@class": "x"}}})
	decode(t, `{"payload":{ "@class" : "x" , "a":1}}`, discovery.ServiceInstance[any]{Payload: map[string]any{"a": 1}})
	decode(t, `{"payload":{"a":1}}`, discovery.ServiceInstance[struct{}]{})
	decode(t, `{"payload":5}`, discovery.ServiceInstance[int64]{Payload: 5})
	decode(t, `{"payload":123456789012345678901234567890}`, discovery.ServiceInstance[any]{Payload: json.Number("123456789012345678901234567890")})

	for _, data := range []string{
		``, ` `, `null`, `[]`, `"x"`, `{`, `{}x`, "\ufeff\ufeff{}", `{"name":[]}`, `{"id":{}}`, `{"port":"x"}`, `{"port":"1.5"}`, `{"port":true}`,
		`{"port":5000000000}`, `{"port":2147483647.9}`, `{"sslPort":[1]}`, `{"registrationTimeUTC":1e300}`, `{"registrationTimeUTC":"x"}`,
		`{"serviceType":"ODD"}`, `{"serviceType":""}`, `{"serviceType":4}`, `{"serviceType":1.0}`, `{"serviceType":true}`, `{"serviceType":[0]}`,
		`{"uriSpec":{"parts":{}}}`, `{"uriSpec":{"parts":null}}`, `{"uriSpec":{"parts":[null]}}`, `{"uriSpec":{"parts":["a"]}}`, `{"uriSpec":"{"}`, `{"uriSpec":5}`,
		`{"uriSpec":{"parts":[{"value":[]}]}}`, `{"enabled":"x"}`, `{"enabled":"0"}`, `{"enabled":0.0}`, `{"enabled":[]}`, `{"payload":5}`,
		`{"payload":["a","b","c"]}`, `{"payload":[5,"a"]}`, `{"payload":["java.lang.Long",5]}`, `{"payload":{}}`,
	} {
		if got, err := discovery.JSON[string]().Decode([]byte(data)); err == nil {
			t.Errorf("%s was decoded as %+v", data, got)
		}
	}
	if got, err := discovery.JSON[map[string]any]().Decode([]byte(`{"payload":5}`)); err == nil {
		t.Errorf("a number was decoded as %v", got)
	}
}

func decode[T any](t *testing.T, data string, want discovery.ServiceInstance[T]) {
	t.Helper()
	got, err := discovery.JSON[T]().Decode([]byte(data))
	if diff := cmp.Diff(want, got, equalInstances); err != nil || diff != "" {
		t.Errorf("%s: %v\n%s", data, err, diff)
	}
}

// fuzzed reads data as instances of a type. What can be read can be written, and read again.
func fuzzed[T any](t *testing.T, data []byte) {
	c := discovery.JSON[T](discovery.WithEnabledKey())
	i, err := c.Decode(data)
	if err != nil {
		return
	}
	written, err := c.Encode(i)
	if err != nil {
		t.Fatalf("%s cannot be written: %v", data, err)
	}
	again, err := c.Decode(written)
	if err != nil {
		t.Fatalf("%s was written as %s: %v", data, written, err)
	}
	if twice, err := c.Encode(again); err != nil || string(twice) != string(written) {
		t.Fatalf("%s, then %s, %v", written, twice, err)
	}
	_ = i.URI(nil)
}

// The reader takes anything.
func FuzzDecode(f *testing.F) {
	for _, data := range vectors(f) {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzed[string](t, data)
		fuzzed[any](t, data)
		fuzzed[map[string]any](t, data)
		fuzzed[place](t, data)
		fuzzed[json.RawMessage](t, data)
		fuzzed[[]byte](t, data)
		fuzzed[int64](t, data)
		fuzzed[struct{}](t, data)
	})
}
