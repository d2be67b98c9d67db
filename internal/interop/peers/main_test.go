package peers_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// home is the folder with what make peers has fetched, empty without it.
var home = os.Getenv("PEERSDIR")

// TestMain leaves out the tests with peers if there are none: they are neither run nor skipped. It lets more tests run at
// once than there are processors, because most of the time they wait for other programs.
func TestMain(m *testing.M) {
	if home == "" {
		suite.LeaveOut("^TestPeer")
	}
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	suite.Main(m)
}

// fetched returns the path of something that make peers has fetched. It must be there.
func fetched(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{home}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run make peers", err)
	}
	return path
}
