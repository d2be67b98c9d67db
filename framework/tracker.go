package framework

import (
	"bytes"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/zkconn"
)

// WithoutEnsembleTracker does not follow the ensemble's own configuration.
//
// By default a client reads it with every new connection and watches it. If it says of each
// server where that serves clients, as dynamic configurations do, these are the servers
// from then on, ahead of those of the connect string; else nothing changes, and nothing
// does with a server that has no ensemble, or whose configuration the client may not read.
// A connection that works is never ended for this.
//
// Servers that do not know how they are reached, behind proxies or in containers, are a
// reason to turn it off: each of their names is tried in vain before the connect string's
// own. With WithTLS it is off always, because the configuration has no ports for TLS.
//
// Java: Builder.ensembleTracker(false).
func WithoutEnsembleTracker() Option {
	return option(func(c *config) error {
		c.untracked = true
		return nil
	})
}

// CurrentEnsemble returns the ensemble's configuration as it was last read. It is zero
// before the first connection, with a server that has no ensemble, if the client may not
// read it, and without a tracker; see WithoutEnsembleTracker. GetConfig asks the server.
//
// Java: getCurrentConfig.
func (c *Client) CurrentEnsemble() Ensemble {
	if c == nil || c.core == nil {
		return Ensemble{}
	}
	if e := c.core.tracker.current.Load(); e != nil {
		return e.clone()
	}
	return Ensemble{}
}

// tracker follows the ensemble's configuration.
type tracker struct {
	wake    signal // tells of a connection, and of a change
	current atomic.Pointer[Ensemble]
	data    []byte // of current
}

// trackerPause is how long the tracker waits after an answer that makes no sense.
const trackerPause = 5 * time.Second

// tracks tells whether the client follows the ensemble's configuration.
func (c *config) tracks() bool { return !c.untracked && c.tls == nil }

// track follows the configuration until the client's life ends.
func (c *core) track(conn *zkconn.Conn) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-c.tracker.wake:
		case <-timer.C:
		case <-c.life.Done():
			return
		}
		timer.Stop()
		data, err := c.readEnsemble(conn)
		switch {
		case err == nil:
			c.follow(conn, data)
		case c.life.Err() != nil:
			return
		case errors.Is(err, ErrNoAuth), errors.Is(err, ErrNoNode): // until the next connection
			c.debug("zookeeper: the configuration of the ensemble cannot be followed", "error", err)
		default:
			timer.Reset(trackerPause) // a lost connection is heard of sooner
		}
	}
}

// readEnsemble reads the configuration and watches it. That of a server without an ensemble
// is empty, and does not change while there is a connection: it needs no watch.
func (c *core) readEnsemble(conn *zkconn.Conn) ([]byte, error) {
	data, err := c.readConfigNode(conn, nil)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	return c.readConfigNode(conn, zkconn.NewWatch(configNode, zkconn.WatchData, func(e zkconn.WatchEvent) {
		if e.Type == zkconn.NodeDataChanged { // of all else the connection's state tells
			c.tracker.wake.set()
		}
	}))
}

func (c *core) readConfigNode(conn *zkconn.Conn, watch *zkconn.Watch) ([]byte, error) {
	var res jute.GetDataResponse
	call := &zkconn.Call{
		Op: jute.OpGetData, Req: &jute.PathWatchRequest{Path: configNode, Watch: watch != nil}, Res: &res, Watch: watch,
	}
	if err := conn.Do(c.life, 0, call); err != nil {
		return nil, err
	}
	return res.Data, call.Err
}

// follow takes a configuration over.
func (c *core) follow(conn *zkconn.Conn, data []byte) {
	t := &c.tracker
	e, err := parseEnsemble(data)
	if err != nil {
		c.debug("zookeeper: the configuration of the ensemble cannot be followed", "error", err)
		return
	}
	servers := e.clientServers()
	if last := t.current.Swap(&e); last == nil || !bytes.Equal(t.data, data) {
		c.debug("zookeeper ensemble", "version", e.Version, "members", len(e.Servers), "servers", servers)
	}
	t.data = data
	if len(servers) > 0 {
		conn.PreferServers(servers)
	}
}

func (c *core) debug(message string, args ...any) {
	c.report(func() { c.cfg.logger.Debug(message, args...) })
}
