package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/go-curator/curator/recipes/locks"
)

// lookTimeout is how long it may take to find out who holds a lock: it is a courtesy.
const lookTimeout = time.Second

// ownerLabel is what the lock's node says of the command: its name, and no argument, which
// may be a secret.
func ownerLabel(argv []string) string {
	label := "curator lock"
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

// notAcquired says that others hold the lock, and who. The error is an exit.
func (l *lock) notAcquired(ctx context.Context) error {
	who := "others"
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTimeout)
	defer cancel()
	i, err := locks.Inspect(ctx, l.client, l.path)
	if err == nil && len(i.Holders) > 0 && i.Holders[0].Owner != "" {
		h := i.Holders[0]
		who = h.Owner
		if h.TraceParent != "" {
			who = fmt.Sprintf("%s, traceparent %s", who, h.TraceParent)
		}
	}
	if l.try {
		return exitWith(l.conflictCode, "the lock %s is held by %s", l.path, who)
	}
	return exitWith(l.conflictCode, "the lock %s was not acquired within %v: it is held by %s", l.path, l.timeout, who)
}
