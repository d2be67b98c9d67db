package matrix

import (
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/internal/verify/realservers"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
	"github.com/go-curator/curator/tools/curatortest"
)

// TestMain leaves out the tests of servers outside of a run of the matrix, which knows what each release has: they are
// neither run nor skipped.
func TestMain(m *testing.M) {
	if os.Getenv(suite.OnlyReal) == "" {
		suite.LeaveOut("^(TestRequests|TestFourLetterWords|TestAdminServer|TestThrottled|TestCertificateReloaded)$")
	}
	suite.Main(m)
}

// connect opens a session without the library, and closes it at the end of the test.
func connect(t *testing.T, address string) *rawclient.Client {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	client, err := rawclient.Connect(conn, jute.ConnectRequest{TimeOut: int32(suite.SessionTimeout.Milliseconds())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = client.Send(jute.OpClose, nil) }) // the connection may have ended: see TestRequests
	return client
}

// TestRequests sends one request of each kind that some release does not know. Each has a connection of its
// own, because a server ends the connection after such a request.
func TestRequests(t *testing.T) {
	b := suite.Real(t)
	client, _ := b.Client(t)
	root := b.Path("requests")
	if _, err := client.Create().CreatingParentsIfNeeded().ForPath(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	everyone := []jute.ACL{{Perms: 31, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	read := (&jute.MultiHeader{Type: jute.OpGetData, Err: -1}).Append(nil)
	read = (&jute.PathWatchRequest{Path: root}).Append(read)
	read = (&jute.MultiHeader{Type: -1, Done: true, Err: -1}).Append(read)
	for _, request := range []struct {
		op   jute.Op
		body rawclient.Body
	}{
		{jute.OpCreate2, &jute.CreateRequest{Path: root + "/create2", ACL: everyone}},
		{jute.OpCreateContainer, &jute.CreateRequest{Path: root + "/container", ACL: everyone, Flags: 4}},
		{jute.OpCreateTTL, &jute.CreateTTLRequest{Path: root + "/ttl", ACL: everyone, Flags: 5, TTL: 60_000}},
		{jute.OpMultiRead, rawclient.Raw(read)},
		{jute.OpAddWatch, &jute.AddWatchRequest{Path: root, Mode: 1}},
		{jute.OpGetEphemerals, &jute.PathRequest{Path: "/"}},
		{jute.OpGetAllChildrenNumber, &jute.PathRequest{Path: root}},
		{jute.OpWhoAmI, nil},
	} {
		t.Run(jute.OpName(request.op), func(t *testing.T) {
			reply, err := connect(t, b.ConnectString()).Do(request.op, request.body)
			switch {
			case err != nil:
				t.Fatal(err)
			case reply.Err == jute.CodeUnimplemented:
				t.Error(framework.ErrUnimplemented)
			case reply.Err != jute.CodeOK:
				t.Errorf("the answer has the error %d", reply.Err)
			}
		})
	}
}

// TestFourLetterWords asks for each word that has an answer of a known form.
func TestFourLetterWords(t *testing.T) {
	b := suite.Real(t)
	for word, want := range map[string]string{
		"ruok": "imok", "isro": "rw", "srvr": "Zookeeper version: ", "stat": "Clients:", "mntr": "zk_version\t",
		"cons": "127.0.0.1", "conf": "clientPort=", "envi": "java.version=", "wchs": "Total watches:", "dirs": "datadir_size: ",
	} {
		t.Run(word, func(t *testing.T) {
			answer, err := realservers.Ask(t.Context(), b.ConnectString(), word)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(answer), want) {
				t.Errorf("no %q in the answer to %s: %s", want, word, answer)
			}
		})
	}
}

// TestAdminServer looks for commands in the list that an AdminServer gives.
func TestAdminServer(t *testing.T) {
	t.Parallel()
	port := curatortest.Real(t, curatortest.WithAdminServer()).Member(0).AdminPort()
	defer http.DefaultClient.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+strconv.Itoa(port)+"/commands", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"ruok", "leader", "voting_view", "snapshot", "restore"} {
		t.Run(command, func(t *testing.T) {
			if !strings.Contains(string(page), "/commands/"+command+`"`) {
				t.Errorf("the AdminServer has no command %s: %s", command, page)
			}
		})
	}
}

// TestThrottled has a server do one request at a time, and refuse those that wait for it. They are sent again.
func TestThrottled(t *testing.T) {
	t.Parallel()
	server := curatortest.Real(t, curatortest.WithSettings(map[string]string{
		"request_throttle_max_requests": "1", "request_throttle_stall_time": "20", "throttled_op_wait_time": "1",
	}))
	client := server.Client(t)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			if _, err := client.Create().ForPath(t.Context(), "/node-"+strconv.Itoa(i)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	answer, err := realservers.Ask(t.Context(), server.ConnectString(), "mntr")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(answer)) {
		if throttled, ok := strings.CutPrefix(line, "zk_throttled_ops\t"); ok && strings.TrimSpace(throttled) != "0" {
			return
		}
	}
	t.Errorf("no request was throttled: %s", answer)
}
