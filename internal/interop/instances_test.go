package interop_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/recipes/discovery"
)

// instancesFile has what Java writes for instances of services. Package discovery reads it in its
// tests.
var instancesFile = filepath.Join("..", "..", "recipes", "discovery", "testdata", "jackson.txt")

// vectors are those of testdata/Instances.java, with ",enabled" behind those with that key.
var vectors = []string{
	"empty", "full", "full,enabled", "disabled,enabled", "static", "permanent", "sequential", "template", "no-template", "spring",
	"text", "bool", "int", "long", "large", "double", "float", "bytes", "list", "array", "date", "map", "no-members", "place", "no-place",
}

// numbers are those that are written in all ways that there are.
var numbers = []string{
	"0", "-0.0", "1", "100", "-1.5", "0.1", "0.001", "0.0009999", "1e-5", "9999999", "10000000", "12345678.9", "1e21", "1.5e300", "5e-324",
	"123456789012345680", "3.141592653589793", "0.30000000000000004",
}

// questions are requests to testdata/Instances.java, with what is to be said about their answers.
// An answer that begins with an exclamation mark is an exception.
type questions struct {
	requests []string
	checks   []func(answer string)
}

func (q *questions) add(check func(answer string), words ...any) {
	q.requests, q.checks = append(q.requests, strings.TrimSuffix(fmt.Sprintln(words...), "\n")), append(q.checks, check)
}

// ask has one JVM answer all of them.
func (q *questions) ask(t *testing.T) {
	t.Helper()
	var log bytes.Buffer
	cmd := compiled(t).command("Instances")
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(q.requests, "\n")+"\n"), &log
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(q.requests) {
		t.Fatalf("%d answers to %d requests:\n%s", len(lines), len(q.requests), &log)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "!") {
			text, err := base64.StdEncoding.DecodeString(line)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			line = string(text)
		}
		q.checks[i](line)
	}
}

// Both languages read and write the same bytes, and make the same URIs.
func TestInstances(t *testing.T) {
	t.Parallel()
	var q questions
	var recorded strings.Builder
	q.addVectors(&recorded)
	q.addInstances(t)
	q.addURIs(t)
	q.addSpring(t)
	q.ask(t)
	if *rewriteNames {
		if err := os.WriteFile(instancesFile, []byte(recorded.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(instancesFile); err != nil || string(kept) != recorded.String() {
		t.Errorf("Java writes other bytes than %s, %v; see -rewrite:\n%s", instancesFile, err, recorded.String())
	}
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// addVectors asks for the vectors of package discovery.
func (q *questions) addVectors(recorded *strings.Builder) {
	add := func(name, vector string, enabled bool) {
		q.add(func(answer string) { fmt.Fprintln(recorded, name, answer) }, "write", vector, enabled)
	}
	for _, name := range vectors {
		vector, enabled := strings.CutSuffix(name, ",enabled")
		add(name, vector, enabled)
	}
	for _, n := range numbers {
		add("number:"+n, n, false)
	}
	add("empty-payload", "none", false)
}

// goInstance is an instance with a payload, as Go writes it.
func goInstance[T any](t *testing.T, payload T, opts ...discovery.JSONOption) string {
	t.Helper()
	data, err := discovery.JSON[T](opts...).Encode(discovery.ServiceInstance[T]{
		Name: "foo", ID: "größe", Address: "host", Port: 1, Payload: payload, Registered: time.UnixMilli(7),
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

type place struct {
	Zone   string             `json:"zone"`
	Load   float64            `json:"load"`
	Weight int                `json:"weight"`
	Since  int64              `json:"since"`
	Tags   []string           `json:"tags"`
	Shares map[string]float64 `json:"shares"`
}

// addInstances has Java read what Go writes, as objects of the classes that its programs have, and
// write it.
func (q *questions) addInstances(t *testing.T) {
	class := discovery.WithPayloadClass("Instances$Place")
	for _, c := range []struct {
		class, data string
		enabled     bool
	}{
		{"java.lang.String", goInstance(t, "a\u2028\x01\"😀"), false},
		{"java.lang.String", goInstance(t, "x", discovery.WithEnabledKey()), true},
		{"java.lang.Integer", goInstance(t, 5), false},
		{"java.lang.Long", goInstance(t, int64(5)), false},
		{"java.lang.Long", goInstance(t, 5_000_000_000), false},
		{"java.math.BigInteger", goInstance(t, uint64(1<<63)), false},
		{"java.lang.Double", goInstance(t, 1e100), false},
		{"java.lang.Float", goInstance(t, float32(1.25)), false},
		{"java.lang.Boolean", goInstance(t, true), false},
		{"[B", goInstance(t, []byte("bytes")), false},
		{"java.util.List", goInstance(t, []int{1, 2}), false},
		{"java.util.Map", goInstance(t, map[string]any{"x": 1, "y": []any{"z", 0.5}}), false},
		{"java.lang.Object", goInstance(t, map[string]string{}), false},
		{"Instances$Place", goInstance(t, place{"<north> & \u2028", 100, 3, 1 << 40, []string{"a"}, map[string]float64{"x": 1}}, class), false},
		{"Instances$Place", goInstance(t, &place{}, class), false},
		{"java.lang.Object", goInstance(t, struct{}{}), false},
	} {
		q.add(func(answer string) {
			if answer != c.data {
				t.Errorf("Java reads %s and writes\n%s", c.data, answer)
			}
		}, "read", c.class, c.enabled, base64Of(c.data))
	}
}

// springInstance is the payload of docs/spring.md.
type springInstance struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Metadata map[string]string `json:"metadata"`
}

// addSpring has Java take from instances what Spring Cloud ZooKeeper's clients take from each
// instance of a service, whether they call it or not.
func (q *questions) addSpring(t *testing.T) {
	uriSpec, err := discovery.ParseURISpec("{scheme}://{address}:{port}")
	if err != nil {
		t.Fatal(err)
	}
	class := discovery.WithPayloadClass("org.springframework.cloud.zookeeper.discovery.ZookeeperInstance")
	for port, want := range map[int]string{8080: "10.0.0.7 8080 http://10.0.0.7:8080 UP", 0: "! java.lang.NullPointerException"} {
		data, err := discovery.JSON[springInstance](class).Encode(discovery.ServiceInstance[springInstance]{
			Name: "orders", ID: "orders-1", Address: "10.0.0.7", Port: port, URISpec: uriSpec,
			Payload: springInstance{ID: "orders-1", Name: "orders", Metadata: map[string]string{"instance_status": "UP"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		q.add(func(answer string) {
			if !strings.HasPrefix(answer, want) {
				t.Errorf("Spring takes %q from %s, want %q", answer, data, want)
			}
		}, "spring", base64Of(string(data)))
	}
}

// addURIs has Java make URIs of templates.
func (q *questions) addURIs(t *testing.T) {
	type instance = discovery.ServiceInstance[string]
	i := instance{Name: "orders", ID: "a", Address: "10.0.0.7", Port: 8080, Registered: time.UnixMilli(7)}
	tls := i
	tls.SSLPort = 8443
	for _, c := range []struct {
		template string
		instance instance
		vars     map[string]string
	}{
		{"{scheme}://{address}:{port}", i, nil},
		{"{scheme}://{address}:{ssl-port}", tls, nil},
		{"{scheme}://{ssl-port}", i, map[string]string{"scheme": "gopher"}},
		{"{name}/{id}/{registration-time-utc}/{service-type}", i, nil},
		{"{address}{name}", i, map[string]string{"address": "x", "name": "y"}},
		{"{[}{ name }{]}{unknown}{other}", i, map[string]string{"other": "x"}},
		{"{[}", i, map[string]string{"[": "x"}},
		{"plain", i, nil},
		{"{}{ }x", i, nil},
		{"{address}{port}", instance{Name: "orders", ID: "a"}, nil},
		{"{", i, nil}, {"}", i, nil}, {"{a{b}}", i, nil}, {"a}b", i, nil},
	} {
		data, err := discovery.JSON[string]().Encode(c.instance)
		if err != nil {
			t.Fatal(err)
		}
		words := []any{"uri", base64Of(c.template), base64Of(string(data))}
		for name, value := range c.vars {
			words = append(words, name+"="+value)
		}
		spec, refused := discovery.ParseURISpec(c.template)
		c.instance.URISpec = spec
		want := c.instance.URI(c.vars)
		q.add(func(answer string) {
			if refused != nil && !strings.HasPrefix(answer, "!") || refused == nil && answer != want {
				t.Errorf("%s: Java makes %q, Go %q, %v", c.template, answer, want, refused)
			}
		}, words...)
	}
}
