package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/go-curator/curator/recipes/locks"
	"github.com/go-curator/curator/tools/curator/internal/terminaltext"
)

// lookTimeout is how long it may take to find out who holds a lock: it is a courtesy.
const lookTimeout = time.Second

// ownerLabel is what the lock's node says of the command: its name, and no argument, which
// may be a secret.
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

// participantID is what a participant calls itself by default.
func participantID(k kind, argv []string) string {
	host, _ := os.Hostname() // it says less then
	return fmt.Sprintf("%s on %s, pid %d", ownerLabel(k, argv), host, os.Getpid())
}

// notAcquired says that others hold the lock, and who. The error is an exit.
func (h *holding) notAcquired(ctx context.Context) error {
	who := "others"
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	if i, err := locks.Inspect(ctx, h.client, h.path); err == nil {
		who = holders(i)
		if len(i.Holders) > 0 && i.Holders[0].TraceParent != "" {
			who = fmt.Sprintf("%s, traceparent %s", who, i.Holders[0].TraceParent)
		}
	}
	if h.try {
		return exitWith(h.conflictCode, "%s %s is %s by %s", h.kind.noun, h.path, h.kind.verb, who)
	}
	return exitWith(h.conflictCode, "%s %s was not acquired within %v: it is %s by %s", h.kind.noun, h.path, h.timeout, h.kind.verb, who)
}

// holders names the first of those that hold a lock, and says how many more there are.
func holders(i *locks.Inspection) string {
	if len(i.Holders) == 0 || i.Holders[0].Owner == "" {
		return "others"
	}
	who := terminaltext.Line(i.Holders[0].Owner)
	switch more := len(i.Holders) - 1; more {
	case 0:
		return who
	case 1:
		return who + " and another"
	default:
		return fmt.Sprintf("%s and %d others", who, more)
	}
}
