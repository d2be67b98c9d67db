// Package lint has the rules of this repository that no compiler and no common linter
// knows, as tests over its source text.
//
// It has no code of its own: run it with go test ./internal/lint. A rule that fails says
// file and line, what is wrong and how to put it right. The few exceptions are listed in
// exceptions_test.go, each with its reason and with how often it is needed, so that an
// exception that is no longer needed fails, too. Every rule has sources that it must
// accept and sources that it must refuse, so that none can be empty.
package lint
