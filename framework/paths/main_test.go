package paths_test

import (
	"log/slog"
	"os"
	"testing"

	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/tools/curatortest"
)

// connectString is that of an embedded server.
var connectString string

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	server, err := curatortest.New()
	if err != nil {
		slog.Error("no server for the examples", "error", err)
		os.Exit(1)
	}
	connectString = server.ConnectString()
	suite.Main(m, server.Close)
}
