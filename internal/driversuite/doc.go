// Package driversuite runs the test suite of the driver, github.com/go-zookeeper/zk, on package framework/zk. It
// has no code of its own.
//
// The driver's test files come from the module cache, and are compiled as files of framework/zk by an overlay of
// the go command: nothing is written into the repository, and nothing of the driver is copied into it. What
// changes in them is in changes_test.go: tests of unexported code are left out, with the reason for each, and the
// driver's servers are replaced by those of curatortest (testdata/cluster.go). The tests use unexported fields of
// the driver's Conn; testdata/hooks.go replaces hooks.go of framework/zk and has these fields.
//
// Each test runs in a process of its own. A test that is skipped has failed. Tests of several servers run on
// real servers only.
//
//	go test ./internal/driversuite            the embedded server, over TCP
//	go test ./internal/driversuite -real      real servers, too; make driver-suite
//	go test ./internal/driversuite -driver    the same tests on the driver itself, to compare
package driversuite
