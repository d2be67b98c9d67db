// Package mutants breaks the algorithms of the recipes on purpose, one by one, and sees that a test
// notices. A test suite is worth what it catches.
//
// A mutant is a change of a few lines of the code, as text. It is applied to a copy that go test takes
// for the original (-overlay), so the code needs no seam for it. The table is in table.go.
//
// The tests run in virtual time, without the race detector. To run all of them:
//
//	make mutants
package mutants
