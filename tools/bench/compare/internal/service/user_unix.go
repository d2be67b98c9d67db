//go:build unix

package service

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"

	"github.com/go-curator/curator/tools/bench/internal/installed"
)

// account is the user that a program runs as.
type account struct{ credential *syscall.Credential } // nil: the user of this process

// unprivileged returns the account of a named user if this process runs as root, otherwise that of
// this process.
func unprivileged(name string) (account, error) {
	if os.Geteuid() != 0 {
		return account{}, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, &installed.AbsentError{Name: "the user " + name, Install: installPostgreSQL, Err: err}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, err
	}
	return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// own makes the account the owner of a directory.
func (a account) own(dir string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(dir, int(a.credential.Uid), int(a.credential.Gid))
}

// run makes a command run as the account.
func (a account) run(cmd *exec.Cmd) {
	if a.credential != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential}
	}
}
