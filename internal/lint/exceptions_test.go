package lint

import "fmt"

// library has the top directories whose code becomes part of programs of users.
var library = map[string]bool{
	"framework": true, "recipes": true, "retry": true, "state": true, "tracing": true, "internal": true,
}

// testOnly has the packages that only tests, and tools that test, import, and that do what a library must not:
// they import testing, or panic. The other packages of tests and of proofs keep the rules of libraries.
var testOnly = map[string]bool{
	"internal/suite":                true,
	"internal/verify/chaos":         true,
	"internal/verify/chaos/nemesis": true,
}

// exception lets a file break a rule a number of times.
type exception struct {
	rule  string
	path  string
	times int
	why   string
}

var exceptions = append([]exception{
	{noBackground.name, "framework/events.go", 1, "the context of an Event that no client has made: it has no values"},
	{noBackground.name, "framework/zk/conn.go", 1, "Connect has the driver's signature"},
	{noBackground.name, "framework/zk/hostprovider.go", 1, "Init and Next have the driver's signatures"},
	{noBackground.name, "framework/listen/set.go", 1, "a listener outlives the call that added it"},
	{noBackground.name, "recipes/locks/lease.go", 1, "the context of a lease that was never held: it has ended, and no caller gave one"},
	{noBackground.name, "recipes/discovery/discoverygrpc/builder.go", 1, "gRPC calls the Build and the Close of a resolver without a context"},
	{noBackground.name, "recipes/discovery/discoverygrpc/example/main.go", 1, "it is a program, in the module that it is an example of"},
	{noPanic.name, "recipes/discovery/discoverygrpc/example/main.go", 1, "it is a program, in the module that it is an example of"},
	{noBackground.name, "internal/telemetry/telemetry.go", 1, "what happens to a connection happens in no trace and for no caller"},
	{driverInOnePlace.name, "framework/bench_test.go", 1, "measures what package framework adds to the driver's own operations"},
	{noSkip.name, "internal/suite/main.go", 1, "decides as curatortest.Real does, for the server that a package's tests share"},
	{noSkip.name, "tools/curator/internal/ui/browsertest/browser_test.go", 1, "decides as curatortest.Real does, for Chromium, and Java Curator beside it, which no other package needs here"},
	{noSkip.name, "internal/interop/program_test.go", 1, "decides as curatortest.Real does, for Java Curator, its compiler and kazoo, which no other test needs"},
	{noSkip.name, "internal/telemetry/alerts_test.go", 1, "decides as curatortest.Real does, for promtool, which no other test needs"},
	{noSkip.name, "internal/verify/rolling/moves_test.go", 1, "decides as curatortest.Real does, for a Java compiler, which no other test of the package needs"},
	{functionSize.name, "framework/schema/load.go", 1, "was longer when 60 lines became the limit"},
	{functionSize.name, "internal/verify/mutants/table.go", 2, "they are tables"},
}, longTests(
	"framework/client_test.go",
	"internal/interop/queue_test.go",
	"internal/telemetry/page_test.go",
	"internal/zkconn/conn_test.go",
	"internal/zkconn/mechanism_test.go",
	"internal/zkconn/rejections_test.go",
	"internal/zkconn/subscribe_test.go",
	"recipes/barriers/rules_test.go",
	"recipes/discovery/discoverygrpc/live_test.go",
	"recipes/discovery/faults_test.go",
	"recipes/nodes/faults_test.go",
)...)

// except takes the exceptions out of what was found, and adds those that are not needed.
func except(rule string, found []finding, list []exception) []finding {
	for _, e := range list {
		if e.rule != rule {
			continue
		}
		var rest []finding
		used := 0
		for _, f := range found {
			if f.path == e.path && used < e.times {
				used++
				continue
			}
			rest = append(rest, f)
		}
		if used < e.times {
			rest = append(rest, finding{e.path, 1, fmt.Sprintf(
				"the exception is needed %d times, not %d: correct internal/lint/exceptions_test.go", used, e.times)})
		}
		found = rest
	}
	return found
}
