package curatorcertmagic_test

import (
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

// connectString is that of the example's server.
var connectString string

func TestMain(m *testing.M) { suite.MainWithServer(m, &connectString) }
