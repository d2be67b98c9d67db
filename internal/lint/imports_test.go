package lint

import (
	"go/ast"
	"slices"
	"strconv"
	"strings"
)

const driver = "github.com/go-zookeeper/zk"

// imports calls fn for every import of s.
func imports(s *source, fn func(spec *ast.ImportSpec, path string)) {
	for _, spec := range s.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			fn(spec, path)
		}
	}
}

// within tells whether path is that of pkg or of a package below it.
func within(path, pkg string) bool {
	return path == pkg || strings.HasPrefix(path, pkg+"/")
}

var driverInOnePlace = rule{
	name: "only one file of internal/zkconn imports the driver, and framework/zk for its data types and errors",
	check: eachFile(func(s *source) (found []finding) {
		// Tests of the servers use the driver as a client that is not ours, and the
		// benchmark measures it.
		apart := s.isTest() && s.dir() != "internal/zkserver" && (s.top() == "internal" || s.top() == "tools")
		if s.path == "internal/zkconn/driver.go" || within(s.dir(), "tools/bench") || apart {
			return nil
		}
		if s.dir() == "framework/zk" {
			return driverConnects(s)
		}
		imports(s, func(spec *ast.ImportSpec, path string) {
			if within(path, driver) {
				found = append(found, s.at(spec, "use internal/zkconn, which cures the driver's defects, or package framework"))
			}
		})
		return found
	}),
	good: []files{
		{"internal/zkconn/driver.go": `package zkconn; import "` + driver + `"`},
		{"internal/zkconn/a_test.go": `package zkconn_test; import "` + driver + `"`},
		{"tools/curatortest/a_test.go": `package curatortest; import "` + driver + `"`},
		{"tools/bench/a.go": `package main; import "` + driver + `"`},
		{"framework/zk/a.go": `package zk; import driver "` + driver + `"; type Stat = driver.Stat`},
		{"framework/zk/a_test.go": `package zk_test; import "` + driver + `"; var _ = zk.Connect`},
	},
	bad: []files{
		{"internal/zkconn/a.go": `package zkconn; import "` + driver + `"`},
		{"framework/a.go": `package framework; import "` + driver + `"`},
		{"framework/a_test.go": `package framework; import "` + driver + `"`},
		{"internal/zkclient/a.go": `package zkclient; import zoo "` + driver + `"`},
		{"internal/zkserver/a_test.go": `package zkserver; import "` + driver + `"`},
		{"tools/curator/a.go": `package main; import "` + driver + `"`},
		{"framework/zk/a.go": `package zk; import driver "` + driver + `"; var _ = driver.Connect`},
		{"framework/zk/a.go": `package zk; import driver "` + driver + `"; var _ = driver.ConnectWithDialer`},
		{"framework/zk/b.go": `package zk; import "` + driver + `"; var _ = zk.NewLock`},
	},
}

// driverConnects returns what of the driver a file of framework/zk uses that has a connection of the driver's behind it.
// Its tests compare with the driver.
func driverConnects(s *source) (found []finding) {
	if s.isTest() {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if ok && (pkg.Name == "driver" || pkg.Name == "zk") && slices.Contains([]string{"Connect", "ConnectWithDialer", "Conn", "NewLock", "Lock"}, sel.Sel.Name) {
			found = append(found, s.at(sel, "a session is that of a framework.Client, not one of the driver's"))
		}
		return true
	})
	return found
}

// telemetryAPI has the packages of OpenTelemetry that cost a program nothing until it
// installs an SDK.
var telemetryAPI = []string{"attribute", "baggage", "codes", "metric", "propagation", "semconv", "trace"}

var telemetryAPIOnly = rule{
	name: "libraries import the API of OpenTelemetry only",
	check: eachFile(func(s *source) (found []finding) {
		if !s.isLibrary() {
			return nil
		}
		imports(s, func(spec *ast.ImportSpec, path string) {
			if !within(path, "go.opentelemetry.io") || path == "go.opentelemetry.io/otel" {
				return
			}
			rest, isCore := strings.CutPrefix(path, "go.opentelemetry.io/otel/")
			first, _, _ := strings.Cut(rest, "/")
			if !isCore || !slices.Contains(telemetryAPI, first) {
				found = append(found, s.at(spec, "the SDK is the program's choice: import the API packages, and this one only in tests and tools"))
			}
		})
		return found
	}),
	good: []files{
		{"tracing/a.go": `package tracing; import ("go.opentelemetry.io/otel"; "go.opentelemetry.io/otel/trace/noop"; "go.opentelemetry.io/otel/semconv/v1.34.0")`},
		{"tracing/a_test.go": `package tracing; import "go.opentelemetry.io/otel/sdk/trace/tracetest"`},
		{"tools/curator/a.go": `package main; import "go.opentelemetry.io/otel/sdk/trace"`},
	},
	bad: []files{
		{"tracing/a.go": `package tracing; import "go.opentelemetry.io/otel/sdk/trace"`},
		{"recipes/locks/a.go": `package locks; import "go.opentelemetry.io/otel/exporters/stdout"`},
		{"framework/a.go": `package framework; import "go.opentelemetry.io/contrib/bridges/otelslog"`},
	},
}

var testCodeInTests = rule{
	name: "testing is for tests",
	check: eachFile(func(s *source) (found []finding) {
		if s.isTestOnly() {
			return nil
		}
		imports(s, func(spec *ast.ImportSpec, path string) {
			if within(path, "testing") {
				found = append(found, s.at(spec, "it registers flags in every program that links it: take an interface with the methods that are needed"))
			}
		})
		return found
	}),
	good: []files{
		{"state/a_test.go": `package state; import "testing"`},
		{"internal/suite/a.go": `package suite; import "testing"`},
		{"state/a.go": `package state; import "example.com/testing"`},
	},
	bad: []files{
		{"tools/curatortest/a.go": `package curatortest; import "testing"`},
		{"internal/zkserver/a.go": `package zkserver; import "testing/synctest"`},
	},
}
