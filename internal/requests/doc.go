// Package requests has a table of the requests that every exported operation sends, in testdata/requests.txt,
// and tests that compare it with what is sent: by a free operation, by one that meets another client, and behind
// a loss of the connection. It has no code of its own. A new operation needs a case, or a line among those
// that send nothing. A change of the table is written by
//
//	go test ./internal/requests -update
//
// and must be meant: servers and other clients see these requests.
package requests
