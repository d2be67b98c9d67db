package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curator/internal/view"
)

// lookTimeout bounds the requests for the holder of a lock, which is only for a message.
const lookTimeout = time.Second

// ownerLabel returns the label of the lock's owner: the names of curator's command and of CMD,
// without the arguments of CMD, which may be secret.
func ownerLabel(k kind, argv []string) string {
	label := "curator " + k.name
	if len(argv) > 0 {
		label += " -- " + filepath.Base(argv[0])
	}
	label = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, label)
	const most = 64
	if len(label) > most {
		label = strings.ToValidUTF8(label[:most], "")
	}
	return label
}

// participantID returns the default of --id.
func participantID(k kind, argv []string) string {
	host, _ := os.Hostname() // without a name the id is less useful, but valid
	return fmt.Sprintf("%s on %s, pid %d", ownerLabel(k, argv), host, os.Getpid())
}

// notAcquired returns an exit that says who holds the lock.
func (h *holding) notAcquired(ctx context.Context) error {
	who := "others"
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if lock, err := view.LockAt(ctx, h.client, h.path); err == nil {
		who = holders(lock)
		if lock != nil && len(lock.Holders) > 0 && lock.Holders[0].TraceParent != "" {
			who = fmt.Sprintf("%s, traceparent %s", who, lock.Holders[0].TraceParent)
		}
	}
	if h.try {
		return exitWith(h.conflictCode, "%s %s is %s by %s", h.kind.noun, h.path, h.kind.held, who)
	}
	return exitWith(h.conflictCode, "%s %s was not %s within %v: it is %s by %s", h.kind.noun, h.path, h.kind.got, h.timeout, h.kind.held, who)
}

// holders returns the owner of a lock's first holder, and the number of the other holders, as text.
func holders(lock *view.Lock) string {
	if lock == nil || len(lock.Holders) == 0 || lock.Holders[0].Owner == "" {
		return "others"
	}
	who := output.Line(lock.Holders[0].Owner)
	switch more := len(lock.Holders) - 1; more {
	case 0:
		return who
	case 1:
		return who + " and another"
	default:
		return fmt.Sprintf("%s and %d others", who, more)
	}
}
