package interop_test

import (
	"flag"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// TestMain lets more tests run at once than there are processors, unless the command line says
// otherwise: most of the time they wait for a JVM, or for the end of a session.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	suite.Main(m, programs.end)
}
