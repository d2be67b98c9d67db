package framework

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// tracker follows the ensemble's configuration.
type tracker struct {
	wake     signal      // tells of a connection, and of the end of the watch
	watching atomic.Bool // there is a watch, or a read is under way that sets one
	current  atomic.Pointer[Ensemble]
	data     []byte // of current
	debug    func(message string, args ...any)
}

// trackerPause is how long the tracker waits after an answer that makes no sense.
const trackerPause = 5 * time.Second

// track follows the configuration until life ends.
func (t *tracker) track(life context.Context, conn *zkconn.Conn) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-t.wake:
			if t.watching.Load() { // the end of the former watch was told before the connection
				continue
			}
		case <-timer.C:
		case <-life.Done():
			return
		}
		timer.Stop()
		data, err := t.read(life, conn)
		switch {
		case err == nil:
			t.follow(conn, data)
		case life.Err() != nil:
			return
		case errors.Is(err, ErrNoAuth), errors.Is(err, ErrNoNode): // until the next connection
			t.debug("zookeeper: the configuration of the ensemble cannot be followed", "error", err)
		default:
			timer.Reset(trackerPause) // after a lost connection the next one wakes the tracker earlier
		}
	}
}

// read reads the configuration and watches it. The configuration of a server without an ensemble is
// empty, and does not change as long as the connection lasts, so it is not watched.
func (t *tracker) read(life context.Context, conn *zkconn.Conn) ([]byte, error) {
	data, err := readConfigNode(life, conn, nil)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	t.watching.Store(true)
	data, err = readConfigNode(life, conn, zkconn.NewWatch(configNode, zkconn.WatchData, func(e zkconn.WatchEvent) {
		t.watching.Store(false)
		switch e.Type { // after others the next connection wakes the tracker
		case zkconn.NodeDataChanged, zkconn.WatchReset: // a reset comes without a reconnect, too: see Conn.Unsubscribe
			t.wake.set()
		}
	}))
	if err != nil {
		t.watching.Store(false)
	}
	return data, err
}

func readConfigNode(ctx context.Context, conn *zkconn.Conn, watch *zkconn.Watch) ([]byte, error) {
	var res jute.GetDataResponse
	call := &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: configNode, Watch: watch != nil}, Res: &res, Watch: watch,
	}
	if err := conn.Do(ctx, 0, call); err != nil {
		return nil, err
	}
	return res.Data, call.Err
}

// follow uses a configuration.
func (t *tracker) follow(conn *zkconn.Conn, data []byte) {
	e, err := parseEnsemble(data)
	if err != nil {
		t.debug("zookeeper: the configuration of the ensemble cannot be followed", "error", err)
		return
	}
	servers := e.clientServers()
	if last := t.current.Swap(&e); last == nil || !bytes.Equal(t.data, data) {
		t.debug("zookeeper ensemble", "version", e.Version, "members", len(e.Servers), "servers", servers)
	}
	t.data = data
	if len(servers) > 0 {
		conn.PreferServers(servers)
	}
}
