package locks

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// callSite is the place in the user's code that acquired a lock. File and line are looked up by
// String. Do and a multi lock may stand between the user's code and the lock.
type callSite [9]uintptr

// caller sets s to the call site of an acquisition. Its own caller is queueLock.begin. It is not
// inlined, so that the frame of a goroutine that waits stays small.
//
//go:noinline
func caller(s *callSite) { runtime.Callers(4, s[:]) }

var ownPackage = reflect.TypeFor[callSite]().PkgPath() + "."

// String returns the file and line of the caller of this package.
func (s callSite) String() string {
	frames := runtime.CallersFrames(s[:])
	for {
		frame, more := frames.Next()
		if frame.PC != 0 && !strings.HasPrefix(frame.Function, ownPackage) {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return "unknown"
		}
	}
}
