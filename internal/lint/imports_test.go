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
	name: "only internal/zkconn imports the driver",
	check: eachFile(func(s *source) (found []finding) {
		// Tests of the servers use the driver as a client that is not ours, and the
		// benchmark measures it.
		apart := s.isTest() && s.dir() != "internal/zkserver" && (s.top() == "internal" || s.top() == "tools")
		if s.dir() == "internal/zkconn" || within(s.dir(), "tools/bench") || apart {
			return nil
		}
		imports(s, func(spec *ast.ImportSpec, path string) {
			if within(path, driver) {
				found = append(found, s.at(spec, "use internal/zkconn, which cures the driver's defects, or package framework"))
			}
		})
		return found
	}),
	good: []files{
		{"internal/zkconn/a.go": `package zkconn; import "` + driver + `"`},
		{"tools/curatortest/a_test.go": `package curatortest; import "` + driver + `"`},
		{"tools/bench/a.go": `package main; import "` + driver + `"`},
	},
	bad: []files{
		{"framework/a.go": `package framework; import "` + driver + `"`},
		{"framework/a_test.go": `package framework; import "` + driver + `"`},
		{"internal/zkclient/a.go": `package zkclient; import zoo "` + driver + `"`},
		{"internal/zkserver/a_test.go": `package zkserver; import "` + driver + `"`},
		{"tools/curator/a.go": `package main; import "` + driver + `"`},
	},
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
