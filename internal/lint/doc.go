// Package lint has the rules of this repository that compilers and common linters do not check,
// as tests over its source text.
//
// It has only tests: run it with go test ./internal/lint. A rule that fails prints file and
// line, the problem and its correction. The exceptions are listed in exceptions_test.go, each
// with its reason and the number of its uses, so an unneeded exception fails, too. Every rule
// has sources that it must accept and sources that it must refuse, so no rule can be empty.
package lint
