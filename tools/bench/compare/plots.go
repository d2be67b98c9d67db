package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/go-curator/curator/tools/bench/internal/installed"
	"github.com/go-curator/curator/tools/bench/internal/results"
)

// drawPlots runs the program in directory plot, which draws the results into a directory.
func drawPlots(ctx context.Context, figures *results.File, directory string) (err error) {
	dir, err := os.MkdirTemp("", "bench-plots-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "results.json")
	if err := figures.Write(path); err != nil {
		return err
	}
	_, err = installed.Output(exec.CommandContext(ctx, "go", "run", module+"/plot", directory, path))
	return err
}
