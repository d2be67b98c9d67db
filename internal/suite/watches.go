package suite

import (
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkclient"
)

// Watches returns how many watches a client has.
func Watches(t *testing.T, client *framework.Client) int {
	t.Helper()
	conn, err := zkclient.Of(client).Conn()
	if err != nil {
		t.Fatal(err)
	}
	return conn.Watches()
}

// AwaitWatches waits until a client has n watches and the server has answered the requests that set
// them: answers come in the order of the requests.
func AwaitWatches(t *testing.T, client *framework.Client, n int) {
	t.Helper()
	Eventually(t, "the watches of a client", func() bool { return Watches(t, client) == n })
	Answered(t, client)
}

// Answered waits until the server has answered what a client has sent.
func Answered(t *testing.T, client *framework.Client) {
	t.Helper()
	if _, err := client.GetACL().ForPath(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
}
