package sequences_test

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/schema"
)

// policy is the retry policy of the client. It panics in a call of panicking, and nowhere else: not on a
// goroutine of the component, which would end the program.
type policy struct{}

// Next returns a short pause, a few times.
func (policy) Next(attempt int, _ time.Duration, _ error) (time.Duration, bool) {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); strings.HasSuffix(frame.Function, ".panicking") {
			panic(boom)
		}
	}
	return 20 * time.Millisecond, attempt < 3
}

// boom is what users' functions panic with.
const boom = "boom"

// panicking is a goroutine of a user that survives the panics of its own functions.
func panicking(ctx context.Context, call func(ctx context.Context)) {
	defer func() {
		if p := recover(); p != nil && p != boom {
			panic(p)
		}
	}()
	call(ctx)
}

// panickySchemas returns schemas with a validator that panics if the data say so.
func (r *run) panickySchemas() *schema.Set {
	node, err := schema.NewRegexp("node", "/(node|.*numbered.*)", schema.WithValidator(schema.ValidatorFunc(func(_ *schema.Schema, c schema.Change) error {
		if string(c.Data) == boom {
			panic(boom)
		}
		return nil
	})))
	r.ok(err)
	set, err := schema.NewSet([]*schema.Schema{node}, true)
	r.ok(err)
	return set
}

// panicky is a codec whose encoder panics.
type panicky struct{ codec.Codec[string] }

func (panicky) Encode(string) ([]byte, error) { panic(boom) }
