// Licences writes the dependencies of this module and of the nested modules, with their
// licences, as the table of docs/licences.md.
//
//	go run ./tools/licences docs/licences.md          # writes the file
//	go run ./tools/licences -check docs/licences.md   # fails if the file is not up to date
//
// It reads the licence files in Go's module cache, and recognizes licences by sentences in
// them. It fails for a module without a licence file, and for an unknown licence, which a person
// must then read. It downloads missing modules.
//
// github.com/google/go-licenses finds the same licences, but its issue 332 says that nobody maintains it. And it
// names packages of one module for one system: the page, and the rule for what is shipped, would still be ours.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	check := flag.Bool("check", false, "check that the file is up to date, and do not write it")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: licences [-check] FILE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, flag.Arg(0), *check)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, check bool) error {
	used, err := collect(ctx, ".")
	if err != nil {
		return err
	}
	page, err := write(used)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(file, []byte(page), 0o644)
	}
	current, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(current) != page {
		return errors.New(file + " is not up to date: run make licences, and check the changes")
	}
	return nil
}
