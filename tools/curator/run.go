package main

import (
	"context"
	"os"

	"github.com/go-curator/curator/tools/curator/internal/settings"
)

// run runs the command that args name, and returns the exit code. files are stdin, stdout and
// stderr, env has the form of os.Environ, and self is the path of this binary, "" if it is not known.
func run(ctx context.Context, args []string, files [3]*os.File, env []string, self string) int {
	p := &program{
		args: append([]string{}, args...), stdin: files[0], stdout: &stdout{file: files[1]}, stderr: files[2],
		env: env, self: self, notes: newNotes(files[2]), settings: settings.New(),
	}
	defer p.notes.flush()
	err := p.command().ExecuteContext(ctx)
	if failed := p.stdout.exit(); failed != nil {
		err = failed // other errors may only be consequences of it
	}
	code, text := exitOf(err)
	if text != "" {
		p.notes.say("%s", text)
	}
	return code
}
