package framework_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// An ensemble that may be reconfigured: members leave and come back, the change is seen in
// the configuration, by a watch of it, and by a client that is connected to whom it concerns.
func TestReconfigEnsemble(t *testing.T) {
	ensemble := curatortest.RealEnsemble(t, 3, curatortest.WithReconfig())
	t.Run("tracker", func(t *testing.T) { testTracker(t, ensemble) })
	t.Run("operations", func(t *testing.T) { testReconfig(t, ensemble) })
}

func testReconfig(t *testing.T, ensemble *curatortest.Ensemble) {
	super := ensemble.Client(t, framework.WithAuthorization("digest", []byte("super:super")))
	var before framework.Stat
	config, err := super.GetConfig().StoringStatIn(&before).ForEnsemble(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	members, version := parseConfig(t, config)
	if len(members) != 3 {
		t.Fatalf("configuration %q", config)
	}

	// Not everybody may, and not from any configuration.
	_, err = ensemble.Client(t).Reconfig().Leaving("3").ForEnsemble(t.Context())
	wantConfig(t, super, err, framework.ErrNoAuth, 3)
	_, err = super.Reconfig().Leaving("3").FromConfig(version + 1).ForEnsemble(t.Context())
	wantConfig(t, super, err, framework.ErrBadVersion, 3)
	_, err = super.Reconfig().Joining("nonsense").ForEnsemble(t.Context())
	wantConfig(t, super, err, framework.ErrBadArguments, 3)

	w, events := watch()
	if _, err := super.GetConfig().UsingWatcher(w).ForEnsemble(t.Context()); err != nil {
		t.Fatal(err)
	}
	leaver := leaver(ensemble)
	var after framework.Stat
	config, err = super.Reconfig().Leaving(fmt.Sprint(leaver + 1)).FromConfig(version).StoringStatIn(&after).ForEnsemble(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	left, next := parseConfig(t, config)
	// The server's answer has no more of the Stat than this.
	if len(left) != 2 || next == version || after.Mzxid <= before.Mzxid || int(after.DataLength) != len(config) {
		t.Fatalf("configuration %q, stat %+v", config, after)
	}
	if e := <-events; e.Path != "/zookeeper/config" || e.Type != framework.NodeDataChanged && e.Type != framework.WatchReset {
		t.Fatalf("event %+v", e)
	}
	if _, err := super.Reconfig().Joining(members[leaver]).ForEnsemble(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantConfig(t, super, nil, nil, 3)

	// Empty lists leave the members as they are; the configuration is a new one all the same.
	config, err = super.Reconfig().Joining().Leaving().ForEnsemble(t.Context())
	if all, last := parseConfig(t, config); err != nil || len(all) != 3 || last <= next {
		t.Fatalf("%q, %v", config, err)
	}

	// The whole membership at once; and the one who left can be connected to no more.
	two := append(append([]string{}, members[:leaver]...), members[leaver+1:]...)
	config, err = super.Reconfig().WithNewMembers(two...).ForEnsemble(t.Context())
	if left, _ := parseConfig(t, config); err != nil || len(left) != 2 {
		t.Fatalf("%q, %v", config, err)
	}
	if path, err := super.Create().ForPath(t.Context(), "/still"); err != nil || path != "/still" {
		t.Fatal(path, err)
	}
}

// leaver returns a member that is not the leader, which does not like to go.
func leaver(ensemble *curatortest.Ensemble) int {
	leader := ensemble.Leader()
	for i := range 3 {
		if ensemble.Member(i) != leader {
			return i
		}
	}
	panic("three leaders")
}

// wantConfig checks an outcome, and how many members there are then.
func wantConfig(t *testing.T, c *framework.Client, err, want error, members int) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := c.Sync().ForPath(ctx, "/"); err != nil {
		t.Fatal(err)
	}
	config, err := c.GetConfig().ForEnsemble(ctx)
	if got, _ := parseConfig(t, config); err != nil || len(got) != members {
		t.Fatalf("configuration %q, %v, want %d members", config, err, members)
	}
}

// parseConfig returns the lines that name servers, and the version.
func parseConfig(t *testing.T, config []byte) (members []string, version int64) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(string(config)), "\n") {
		if hex, ok := strings.CutPrefix(line, "version="); ok {
			if _, err := fmt.Sscanf(hex, "%x", &version); err != nil {
				t.Fatal(err)
			}
		} else if line != "" {
			members = append(members, line)
		}
	}
	return members, version
}
