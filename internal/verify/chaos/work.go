package chaos

import (
	"context"
	"os"

	"github.com/go-curator/curator/internal/verify/chaos/worker"
)

// Work does the work of a worker, if this process was started as one; it tells whether it was. A
// program whose processes are to be workers calls it before anything else, and ends if it was.
func Work(ctx context.Context) (was bool, err error) {
	settings, was, err := worker.Told()
	if !was || err != nil {
		return was, err
	}
	return true, worker.Run(ctx, settings, os.Stdin, os.Stdout)
}
