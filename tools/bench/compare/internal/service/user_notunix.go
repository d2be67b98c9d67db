//go:build !unix

package service

import "os/exec"

// account stands for this process's own: other systems have no root.
type account struct{}

func unprivileged(string) (account, error) { return account{}, nil }

func (account) own(string) error { return nil }

func (account) run(*exec.Cmd) {}
