package curatortest

import "golang.org/x/sys/unix"

// limitFiles sets the maximum size of files that a process writes: 0 if none is true, otherwise the
// process's hard limit. With 0 Java gets an error for each write, as on a full disk.
func limitFiles(pid int, none bool) error {
	var limit unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	if none {
		limit.Cur = 0
	}
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &limit, nil)
}
