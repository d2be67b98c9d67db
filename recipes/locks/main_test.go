package locks_test

import (
	"flag"
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// connectString is that of the examples' server.
var connectString string

// TestMain has package rapid check the same cases in every run, unless the command line says otherwise.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "30"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	suite.MainWithServer(m, &connectString)
}
