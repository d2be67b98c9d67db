package suite

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/go-curator/curator/tools/curatortest"
)

// MainWithServer is Main for a package with examples, which read as programs do: they
// connect to connectString, an embedded server's, and log nothing.
func MainWithServer(m *testing.M, connectString *string) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	server, err := curatortest.New()
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite: no server for the examples:", err)
		os.Exit(1)
	}
	*connectString = server.ConnectString()
	Main(m, server.Close)
}
