// Sbom writes the modules of a Go binary, as CycloneDX 1.6 in JSON:
//
//	go run ./tools/sbom dist/curator > curator.cdx.json
//
// It reads the data that the Go toolchain has written into the binary: the modules with their
// versions and checksums, and the release of Go, which stands for the standard library. The
// binary may be for another system. Sbom needs no network. The output is the same for the same
// binary, so it has no time and no serial number.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(billOf(info))
}
