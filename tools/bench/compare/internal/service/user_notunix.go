//go:build !unix

package service

import "os/exec"

// account is always the account of this process: this system has no root.
type account struct{}

func unprivileged(string) (account, error) { return account{}, nil }

func (account) own(string) error { return nil }

func (account) run(*exec.Cmd) {}
