package locks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/recipes/locks"
)

// What a log and a failed test say of the values of this package.
func TestTexts(t *testing.T) {
	first := locks.Contender{
		Path: "/l/a", Token: 42, SessionID: -1, Since: time.Date(2026, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600)),
		Owner: "line 1\nline 2", Data: "not\nshown", TraceParent: "not shown",
	}
	second := locks.Contender{Path: "/l/b", Since: time.UnixMilli(0)}
	const firstText = `/l/a (token 42, session 0xffffffffffffffff, since 2026-01-02T02:04:05.006Z, owner "line 1\nline 2")`
	const secondText = `/l/b (token 0, session 0x0, since 1970-01-01T00:00:00.000Z, owner "")`
	for _, tt := range []struct {
		value fmt.Stringer
		want  string
	}{
		{locks.LossSuspended, "suspended"},
		{locks.LossDeadline, "lease_deadline"},
		{locks.LossSessionExpired, "session_expired"},
		{locks.LossNodeDeleted, "node_deleted"},
		{locks.LossClosed, "closed"},
		{locks.LossRevoked, "revoked"},
		{locks.LossMaxHold, "max_hold"},
		{locks.LossReason(0), "LossReason(0)"},
		{first, firstText},
		{&second, secondText},
		{locks.Inspection{Path: "/l"}, "/l: nobody holds it or waits for it"},
		{
			&locks.Inspection{Path: "/l", Kind: "mutex", Holders: []locks.Contender{first}, Waiters: []locks.Contender{second, second}},
			"/l: mutex, holders [" + firstText + "], waiters [" + secondText + " " + secondText + "]",
		},
		{locks.Inspection{Path: "/l", Kind: "mutex"}, "/l: mutex, holders [], waiters []"},
	} {
		suite.WantText(t, tt.value, tt.want)
	}
	suite.WantLogged(t, locks.LossDeadline, `"lease_deadline"`)
}
