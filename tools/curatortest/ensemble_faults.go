package curatortest

import (
	"errors"
	"sync"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/zkserver/netfault"
	"github.com/go-curator/curator/internal/zkserver/rawclient"
)

// MemberOf returns the server that a client is connected to, nil while it has no connection.
// The client may move to another server at any time. For a client that is not connected through
// this ensemble's ConnectString or TLSConnectString it returns nil. A nil client fails the
// test.
// Java: TestingCluster.findConnectionInstance.
func (e *Ensemble) MemberOf(client *framework.Client) *Member {
	e.tb.Helper()
	if client == nil {
		e.tb.Fatalf("MemberOf: client is nil")
		return nil
	}
	server := client.Server()
	for _, m := range e.members {
		if server == m.proxy.Address() || m.secure != nil && server == m.secure.Address() {
			return m
		}
	}
	return nil
}

// proxies returns the proxies between clients and servers.
func (e *Ensemble) proxies() []*netfault.Proxy {
	var all []*netfault.Proxy
	for _, m := range e.members {
		all = append(all, m.proxy)
		if m.secure != nil {
			all = append(all, m.secure)
		}
	}
	return all
}

// clients returns the link between clients and all servers.
func (e *Ensemble) clients(d Direction) Link {
	link := Link{tb: e.tb}
	for _, p := range e.proxies() {
		link.ways = append(link.ways, proxyWay{p, d.netfault(), clientPort})
	}
	return link
}

// Disconnect closes every connection between clients and servers; clients reconnect.
func (e *Ensemble) Disconnect() {
	for _, p := range e.proxies() {
		p.Disconnect()
	}
}

// Refuse immediately closes new connections of clients until accept is called or the test ends.
// Open connections stay.
func (e *Ensemble) Refuse() (accept func()) {
	var accepts []func()
	for _, p := range e.proxies() {
		accepts = append(accepts, p.Refuse())
	}
	accept = inOrder(accepts)
	e.tb.Cleanup(accept)
	return accept
}

// Partition lets nothing through between clients and the servers in the given direction,
// without closing connections, until heal is called or the test ends. Messages that were on
// their way arrive late. The servers still reach each other. See Member.Partition and Link for
// smaller faults.
func (e *Ensemble) Partition(d Direction) (heal func()) {
	e.tb.Helper()
	if !checkDirection(e.tb, "Partition", d) {
		return func() {}
	}
	return e.clients(d).Silence()
}

// ExpireSession ends a session now, with its ephemeral nodes, as its timeout would. An unknown
// or ended session is ignored. ZooKeeper has no command for this: the session is resumed on
// another connection, with the password that the proxies have read, and closed. Clients are cut
// off for that moment. The test fails if no server answers.
//
// The proxies cannot read handshakes with TLS: if the servers have WithTLS and the session is
// unknown, the test fails. Java: KillSession.kill.
func (e *Ensemble) ExpireSession(id int64) {
	e.tb.Helper()
	session, known := e.granted.get(id)
	switch {
	case noSession(e.tb, "ExpireSession", id):
		return
	case !known && e.authority != nil:
		e.tb.Fatalf("expire session %#x: no client has it on the port without TLS, and handshakes with TLS cannot be read", id)
		return
	case !known:
		return
	}
	// The client must not reach a server meanwhile, because it would move the session back.
	var heals []func()
	for _, p := range e.proxies() {
		heals = append(heals, p.Hold(netfault.Both))
	}
	defer inOrder(heals)()
	var errs []error
	for _, m := range e.members {
		err := m.closeSession(session)
		if err == nil || errors.Is(err, rawclient.ErrExpired) {
			return
		}
		errs = append(errs, err)
	}
	e.tb.Fatalf("expire session %#x: %v", id, errors.Join(errs...))
}

// Pause stops the servers' processes with SIGSTOP until resume is called or the test ends. On systems
// without that signal, such as Windows, it fails the test.
func (e *Ensemble) Pause() (resume func()) {
	e.tb.Helper()
	var resumes []func()
	for _, m := range e.members {
		resumes = append(resumes, m.Pause())
	}
	return inOrder(resumes)
}

// Stop asks every server to end, and waits until they have ended; Start starts them again.
// Java: TestingCluster.stop.
func (e *Ensemble) Stop() {
	var wg sync.WaitGroup
	for _, m := range e.members {
		wg.Go(m.Stop)
	}
	wg.Wait()
}

// Start starts the servers that do not run, with their data, and waits until every server
// serves. Java: TestingCluster.start.
func (e *Ensemble) Start() {
	e.tb.Helper()
	if err := e.startStopped(); err != nil {
		e.tb.Fatalf("start ZooKeeper: %v", err)
	}
}

// Restart stops every server and starts it again with its data. It waits until every server
// serves.
func (e *Ensemble) Restart() {
	e.tb.Helper()
	e.Stop()
	e.Start()
}
