// Curator is the command line of Apache Curator's locks, and of the ZooKeeper ensemble that
// they are kept in. It runs commands under locks, shows who holds them, and reads and changes
// nodes:
//
//	curator lock|rlock|wlock|semaphore|elect [flags] PATH -- CMD [ARG...]
//	curator locks|leaders|queues|services|watch|ls|get|stat|acl|tree|du|health
//	curator revoke|break|verify|set|create|rm
//	curator ui [--listen ADDR] [PATH]
//	curator demo [--ui]
//	curator server [--listen ADDR]
//	curator completion|man|version
//
// Their --help and docs/cli.md describe them and their exit codes.
//
// CMD is a process group, not a process: signals go to all its processes, and the lock is kept
// until all of them have ended. On a terminal it has the foreground while it runs. When it is
// stopped there, for example by Ctrl-Z, curator stops with it, as a shell expects of a job.
// When it continues, curator checks the lock first. A CMD that is stopped without a terminal
// keeps the lock, like a slow one.
//
// On systems without process groups only CMD's own process is ended when the lock is lost, and
// no signal is passed on.
package main

import (
	"context"
	"os"
)

func main() {
	guardIfAsked(os.Args[1:], os.Stdin)
	self, err := os.Executable()
	if err != nil {
		self = "" // there is no guard then
	}
	os.Exit(run(context.Background(), os.Args[1:], [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, os.Environ(), self))
}
