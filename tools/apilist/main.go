// Apilist writes the exported API of the module, one line for each name. So a change of the
// public API is a change of docs/api.txt, which a review sees.
//
//	go run ./tools/apilist docs/api.txt
//
// make api calls it, and a test compares the file with the code. The lines have types but no
// names of parameters, because names may change freely. Packages below internal, and commands,
// are not in the file.
//
// apidiff, which make apidiff runs, compares two versions and writes no list, so a diff of a change does not show
// what it says. go doc -all has the comments and the names of parameters.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

// patterns are the packages that other modules may import.
var patterns = []string{
	"./framework/...", "./recipes/...", "./retry/...", "./state/...", "./tracing/...", "./tools/curatortest",
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: apilist FILE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	text, err := list(ctx, ".", patterns)
	stop()
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apilist:", err)
		os.Exit(1)
	}
}
