package curatortest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestVirtualClient checks that a client keeps its session for two hours, and then loses it.
func TestVirtualClient(t *testing.T) {
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		server := curatortest.Start(t, curatortest.Virtual())
		client := server.Client(t)
		if _, err := client.Create().WithMode(framework.Ephemeral).ForPath(t.Context(), "/e"); err != nil {
			t.Fatal(err)
		}
		session := client.SessionID()
		pass(2 * time.Hour)
		if server.Sessions() != 1 || client.SessionID() != session {
			t.Errorf("%d sessions; the client's is 0x%x and was 0x%x", server.Sessions(), client.SessionID(), session)
		}
		heal := server.Partition(curatortest.Both)
		pass(time.Hour)
		heal()
		if exists, err := client.CheckExists().ForPath(t.Context(), "/e"); err != nil || exists {
			t.Errorf("exists: %t, %v", exists, err)
		}
		if client.SessionID() == session {
			t.Error("the session has outlived an hour without a word")
		}
	})
	t.Logf("three hours in %v", time.Since(start))
}
