// Buildergen writes the fluent builders of package framework from package spec.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-curator/curator/tools/buildergen/spec"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: buildergen FRAMEWORK")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "buildergen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	for _, op := range spec.Ops {
		src, err := Generate(op)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, Output(op)), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}
