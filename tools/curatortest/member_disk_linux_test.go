package curatortest_test

import (
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/tools/curatortest"
)

// A server that cannot write to its disk answers no write request, and ends. When it is started again
// with room on the disk, it serves its former data.
func TestFillDisk(t *testing.T) {
	t.Parallel()
	e := curatortest.Real(t)
	client := e.Client(t, framework.WithConnectionTimeout(time.Second))
	if _, err := client.Create().ForPath(t.Context(), "/before"); err != nil {
		t.Fatal(err)
	}
	m := e.Member(0)
	free := m.FillDisk()
	if _, err := client.Create().ForPath(t.Context(), "/while"); err == nil {
		t.Error("a write is answered, though the disk is full")
	}
	eventually(t, "the server ends", func() bool { return m.Mode() == "" })
	free()
	m.Restart()
	if _, err := client.CheckExists().ForPath(t.Context(), "/before"); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}
