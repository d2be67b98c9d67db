// Package mutants breaks the algorithms of the recipes on purpose, one by one, and checks that
// a test notices.
//
// A mutant is a change of a few lines of the code, as text. It is applied to a copy that go
// test compiles instead of the original (-overlay), so the code itself does not change. The
// table is in table.go.
//
// The tests run in virtual time, without the race detector. To run all of them:
//
//	make mutants
package mutants
