package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curator/internal/output"
	"github.com/go-curator/curator/tools/curatortest"
)

// What is not known of a node that may not be read is "" or 0 in JSON, and what is known is as ever.
func TestHiddenContenders(t *testing.T) {
	client := curatortest.Start(t, curatortest.WithRelease("3.9.5")).Client(t)
	for _, perms := range []framework.Perm{framework.PermWrite, framework.PermAll} {
		create := client.Create().CreatingParentsIfNeeded().WithProtection().WithMode(framework.EphemeralSequential).WithACL(framework.WorldACL(perms))
		if _, err := create.ForPath(t.Context(), "/l/latch-"); err != nil {
			t.Fatal(err)
		}
	}
	locks, err := Locks(t.Context(), client, "/l")
	if err != nil || len(locks) != 1 || len(locks[0].Holders) != 1 || len(locks[0].Waiters) != 1 {
		t.Fatalf("%+v, %v", locks, err)
	}
	elections, err := Elections(t.Context(), client, "/l")
	if err != nil || len(elections) != 1 || elections[0].Leader == nil || len(elections[0].Candidates) != 1 {
		t.Fatalf("%+v, %v", elections, err)
	}
	session := output.Hex(client.SessionID())
	for _, tt := range []struct{ hidden, shown any }{
		{locks[0].Holders[0], locks[0].Waiters[0]}, {elections[0].Leader, elections[0].Candidates[0]},
	} {
		if got := fields(t, tt.hidden); got["since"] != "" || got["session"] != "" || got["token"] != float64(0) {
			t.Errorf("hidden: %v", got)
		}
		got := fields(t, tt.shown)
		since, err := time.Parse(time.RFC3339, got["since"].(string))
		if err != nil || since.IsZero() || got["session"] != session || got["token"] == float64(0) {
			t.Errorf("shown: %v", got)
		}
	}
	for _, rows := range [][][]string{LockRows(locks), LeaderRows(elections)} {
		if got := strings.Join(rows[1][4:], " "); got != "- 0 -" {
			t.Errorf("row of the hidden one: %q", rows[1])
		}
	}
}

// fields returns the fields of a value in JSON.
func fields(t *testing.T, value any) (m map[string]any) {
	t.Helper()
	text, err := output.JSON(value)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}
