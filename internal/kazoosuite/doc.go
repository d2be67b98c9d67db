// Package kazoosuite runs the test suite of kazoo, the client for Python, on the embedded server. It has no code of
// its own.
//
// Kazoo's tests come from its wheel, and nothing of them is copied here. testdata/embedded_cluster.py, a plugin of
// pytest, gives them a server of curatortest in place of the three that they start. Which tests do not pass, with
// the reason of each, is in expected_test.go: any other failure fails, and so does a test that passes and is listed
// there.
//
//	make kazoo-suite                                            installs kazoo and pytest into a folder, and runs it
//	go test ./internal/kazoosuite -v -python=/path/to/python    with a Python that has them
package kazoosuite
