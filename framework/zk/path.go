package zk

import (
	"fmt"
	"strings"
)

// createMode is what a flag of Create says.
type createMode struct {
	flag         int32
	isEphemeral  bool
	isSequential bool
	isContainer  bool
	isTTL        bool
}

func parseCreateMode(flag int32) (createMode, error) {
	m := createMode{flag: flag}
	switch flag {
	case FlagPersistent:
	case FlagEphemeral:
		m.isEphemeral = true
	case FlagSequence:
		m.isSequential = true
	case FlagEphemeralSequential:
		m.isEphemeral, m.isSequential = true, true
	case FlagContainer:
		m.isContainer = true
	case FlagTTL:
		m.isTTL = true
	case FlagPersistentSequentialWithTTL:
		m.isSequential, m.isTTL = true, true
	default:
		return createMode{}, fmt.Errorf("invalid flag value: [%v]", flag)
	}
	return m, nil
}

// validatePath returns ErrInvalidPath for what the driver refuses. That of a sequential node may end in a slash.
func validatePath(path string, isSequential bool) error {
	if !strings.HasPrefix(path, "/") {
		return ErrInvalidPath
	}
	if path == "/" {
		return nil
	}
	below := path[1:]
	if isSequential {
		below = strings.TrimSuffix(below, "/")
	}
	for name := range strings.SplitSeq(below, "/") {
		if name == "" || name == "." || name == ".." {
			return ErrInvalidPath
		}
	}
	for _, r := range path { // what is no UTF-8 is U+FFFD here
		switch {
		case r <= '\u001f', r >= '\u007f' && r <= '\u009f', r >= '\uf000' && r <= '\uf8ff', r >= '\ufff0' && r < '\uffff':
			return ErrInvalidPath
		}
	}
	return nil
}
