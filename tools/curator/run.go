package main

import (
	"context"
	"os"

	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// run does what the arguments ask for and returns the exit code. env is the environment,
// as os.Environ has it, and self the path of our own binary, "" for none.
func run(ctx context.Context, args []string, files [3]*os.File, env []string, self string) int {
	p := &program{
		args: append([]string{}, args...), stdin: files[0], stdout: &stdout{file: files[1]}, stderr: files[2],
		env: env, self: self, notes: newNotes(files[2]), settings: settings.New(),
	}
	defer p.notes.flush()
	err := p.command().ExecuteContext(ctx)
	if failed := p.stdout.exit(); failed != nil {
		err = failed // whatever follows from it
	}
	code, text := exitOf(err)
	if text != "" {
		p.notes.say("%s", text)
	}
	return code
}
