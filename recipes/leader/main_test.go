package leader_test

import (
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// connectString names the server of the examples.
var connectString string

func TestMain(m *testing.M) { suite.MainWithServer(m, &connectString) }
