package curatortest

import "golang.org/x/sys/unix"

// limitFiles sets how large a process can make files: not at all, or as it may. Java is told of
// it by an error, as of a full disk.
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
