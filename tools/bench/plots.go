package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/go-curator/curator/tools/bench/internal/results"
)

// thisPackage is where the program that draws is found. It is a module of its own, below.
const thisPackage = "github.com/go-curator/curator/tools/bench"

// drawPlots has the figures drawn, into a directory.
func drawPlots(ctx context.Context, file *results.File, directory string) (err error) {
	directory, err = filepath.Abs(directory)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench-plots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	figures := filepath.Join(dir, "results.json")
	if err := file.Write(figures); err != nil {
		return err
	}
	source, err := output(exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", thisPackage))
	if err != nil {
		return err
	}
	_, err = output(exec.CommandContext(ctx, "go", "-C", filepath.Join(strings.TrimSpace(source), "plot"), "run", ".", directory, figures))
	return err
}

// output runs a command and returns what it prints.
func output(cmd *exec.Cmd) (string, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%v: %w\n%s", cmd.Args, err, &stderr)
	}
	return string(out), nil
}
