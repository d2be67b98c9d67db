// Jutegen writes the wire records of package jute from package spec.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-curator/curator/tools/jutegen/spec"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: jutegen DIR")
		os.Exit(2)
	}
	src, err := Generate(spec.Records)
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Args[1], Output), src, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "jutegen:", err)
		os.Exit(1)
	}
}
