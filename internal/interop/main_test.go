package interop_test

import (
	"testing"

	"github.com/go-curator/curator/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m, programs.end) }
