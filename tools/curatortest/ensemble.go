package curatortest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-curator/curator/internal/jute"
	"github.com/go-curator/curator/internal/process"
)

// Ensemble is one or more real ZooKeeper servers, each behind a proxy that can break its
// network. Its methods act on all servers and their clients, as those of [ZooKeeper]; the
// methods of [Member] act on one server. Java: TestingCluster.
type Ensemble struct {
	tb      TB
	noTest  *noTest // the same as tb if NewReal started the servers, otherwise nil
	dir     string
	ports   *process.Ports
	members []*Member
	peers   *wiring // nil for one server

	authority *authority // nil without TLS
	granted   granted
}

// ConnectString names every server.
func (e *Ensemble) ConnectString() string {
	var addresses []string
	for _, m := range e.members {
		addresses = append(addresses, m.ConnectString())
	}
	return strings.Join(addresses, ",")
}

// Member returns server i, from 0. The test fails if there is none.
func (e *Ensemble) Member(i int) *Member {
	e.tb.Helper()
	if i < 0 || i >= len(e.members) {
		e.tb.Fatalf("Member(%d): the servers have the numbers 0 to %d", i, len(e.members)-1)
		return e.members[0]
	}
	return e.members[i]
}

// Members returns every server, in the order of their numbers.
func (e *Ensemble) Members() []*Member { return slices.Clone(e.members) }

// Leader returns the leader, or the only server. It waits for an election that is under way.
// While two servers report that they lead, because one of them was deposed, it returns either:
// see Member.Mode.
func (e *Ensemble) Leader() *Member {
	e.tb.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(startTimeout); time.Now().Before(end); <-ticker.C {
		for _, m := range e.members {
			if mode := m.Mode(); mode != "" && mode != "follower" {
				return m
			}
		}
	}
	e.tb.Fatalf("no leader of ZooKeeper after %v", startTimeout)
	return e.members[0]
}

// Close stops the servers and removes their data. It can be called more than once. Its error
// also has earlier failures for which there was no test to fail.
func (e *Ensemble) Close() error {
	var wg sync.WaitGroup
	for _, m := range e.members {
		wg.Go(m.close)
	}
	wg.Wait()
	if e.peers != nil {
		e.peers.close()
	}
	var err error
	if e.ports != nil {
		err = e.ports.Release()
	}
	return errors.Join(err, os.RemoveAll(e.dir), e.noTest.err())
}

// create creates the nodes of WithNodes.
func (e *Ensemble) create(nodes []node) error {
	if len(nodes) == 0 {
		return nil
	}
	c, err := e.members[0].dialRaw(jute.ConnectRequest{TimeOut: int32(takeoverTimeout.Milliseconds()), Passwd: make([]byte, 16)})
	if err != nil {
		return fmt.Errorf("WithNodes: %w", err)
	}
	defer c.Conn.Close()
	open := []jute.ACL{{Perms: jute.PermAll, ID: jute.ID{Scheme: "world", ID: "anyone"}}}
	for _, n := range nodes {
		reply, err := c.Do(jute.OpCreate, &jute.CreateRequest{Path: n.path, Data: []byte(n.data), ACL: open})
		if err == nil {
			err = refusedNode(n, reply.Err)
		}
		if err != nil {
			return fmt.Errorf("create %s: %w", n.path, err)
		}
	}
	_, err = c.Do(jute.OpClose, nil)
	return err
}

// startStopped is Start with an error as its result. It first starts all servers, and then waits,
// because a server of an ensemble serves only while a majority runs.
func (e *Ensemble) startStopped() error {
	for _, m := range e.members {
		if err := m.launchStopped(); err != nil {
			return err
		}
	}
	for _, m := range e.members {
		if err := m.awaitServing(); err != nil {
			return err
		}
	}
	return nil
}

// TLSConnectString names every server's port for TLS. The servers must have [WithTLS]: the
// test fails otherwise.
func (e *Ensemble) TLSConnectString() string {
	e.tb.Helper()
	var addresses []string
	for _, m := range e.members {
		addresses = append(addresses, m.TLSConnectString())
	}
	return strings.Join(addresses, ",")
}

// TLSConnectString names only this server's port for TLS. The server must have [WithTLS]: the
// test fails otherwise. The faults of the plain port also affect this port.
func (m *Member) TLSConnectString() string {
	m.ensemble.tb.Helper()
	if m.secure == nil {
		m.ensemble.tb.Fatalf("TLS with ZooKeeper: the servers were started without WithTLS")
		return ""
	}
	return m.secure.Address()
}

// TLSConfig returns the settings of a client that trusts the servers and presents no
// certificate. The caller may change them. The servers must have [WithTLS]: the test fails
// otherwise, and the settings trust no server.
func (e *Ensemble) TLSConfig() *tls.Config {
	e.tb.Helper()
	settings := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.authority == nil {
		e.tb.Fatalf("TLS with ZooKeeper: the servers were started without WithTLS")
		return settings
	}
	settings.RootCAs = e.authority.pool()
	return settings
}

// TLSConfigWith is TLSConfig for a client that presents a certificate. Like other clients, and
// unlike Go's default, it presents the certificate even if the server has said that it would
// not accept it.
func (e *Ensemble) TLSConfigWith(c Certificate) *tls.Config {
	e.tb.Helper()
	settings := e.TLSConfig()
	if e.authority == nil {
		return settings
	}
	certificate, err := e.authority.issue(c)
	if err != nil {
		e.tb.Fatalf("TLS with ZooKeeper: a client's certificate: %v", err)
		return settings
	}
	settings.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	return settings
}

// AwaitReadOnly waits until the server serves reads only, because it has no quorum, or fails
// the test after a minute. The servers must have [WithReadOnlyMode]: the test fails otherwise.
// Before that ZooKeeper waits for another quorum, for 2 s or a tick if that is longer.
func (m *Member) AwaitReadOnly() {
	m.ensemble.tb.Helper()
	if !m.setup.extras.readOnly {
		m.ensemble.tb.Fatalf("reads without a quorum: the servers were started without WithReadOnlyMode")
		return
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for end := time.Now().Add(startTimeout); time.Now().Before(end); <-ticker.C {
		if _, last = serverMode(m.setup.address()); errors.Is(last, errReadOnly) {
			return
		}
	}
	m.ensemble.tb.Fatalf("ZooKeeper is not read-only after %v: %v", startTimeout, last)
}
