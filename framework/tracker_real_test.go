package framework_test

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/internal/suite"
	"github.com/go-curator/curator/state"
	"github.com/go-curator/curator/tools/curatortest"
)

// testTracker takes a member out of an ensemble, under a client that has its connection with another
// one, and lets it in again.
func testTracker(t *testing.T, ensemble *curatortest.Ensemble) {
	var mu sync.Mutex
	var dialed []string
	var last net.Conn
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		mu.Lock()
		defer mu.Unlock()
		dialed, last = append(dialed, address), conn
		return conn, err
	}
	leader := ensemble.Leader()
	client := curatortest.NewClient(t, leader.ConnectString(), framework.WithDialer(dial),
		framework.WithAuthorization("digest", []byte("super:super")))
	var states []state.ConnectionState
	client.ConnectionStateListenable().Add(func(_ context.Context, s state.ConnectionState) {
		mu.Lock()
		defer mu.Unlock()
		states = append(states, s)
	})
	suite.Eventually(t, "the three members", func() bool { return len(client.CurrentEnsemble().Servers) == 3 })
	before := client.CurrentEnsemble()
	config, err := client.GetConfig().ForEnsemble(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	members, _ := parseConfig(t, config)
	session := client.SessionID()

	follower := slices.IndexFunc([]*curatortest.Member{ensemble.Member(0), ensemble.Member(1), ensemble.Member(2)},
		func(m *curatortest.Member) bool { return m != leader })
	if _, err := client.Reconfig().Leaving(string(rune('1' + follower))).ForEnsemble(t.Context()); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "the two members", func() bool { return len(client.CurrentEnsemble().Servers) == 2 })
	after := client.CurrentEnsemble()
	if after.Version <= before.Version {
		t.Errorf("the version was %d, is %d", before.Version, after.Version)
	}
	if _, err := client.CheckExists().ForPath(t.Context(), "/"); err != nil {
		t.Error(err)
	}
	mu.Lock()
	if !slices.Equal(dialed, []string{leader.ConnectString()}) || slices.Contains(states, state.Suspended) {
		t.Errorf("the connection was disturbed: states %v, dialed %v", states, dialed)
	}
	last.Close()
	mu.Unlock()
	suite.Eventually(t, "another connection", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Contains(states, state.Reconnected)
	})
	mu.Lock()
	defer mu.Unlock()
	for _, address := range dialed[1:] {
		if !slices.ContainsFunc(after.Servers, func(s framework.EnsembleServer) bool { return s.ClientAddress == address }) {
			t.Errorf("there were dialed %v, the ensemble is %+v", dialed, after)
		}
	}
	if id := client.SessionID(); id != session {
		t.Errorf("the session was 0x%x, is 0x%x", session, id)
	}
	if _, err := client.Reconfig().Joining(members[follower]).ForEnsemble(t.Context()); err != nil {
		t.Fatal(err)
	}
	suite.Eventually(t, "all members to serve", func() bool {
		return !slices.ContainsFunc(ensemble.Members(), func(m *curatortest.Member) bool { return m.Mode() == "" })
	})
}

// wantStaticEnsemble has servers that know of themselves alone where clients find them: the client
// stays with the proxies of the connect string.
func wantStaticEnsemble(t *testing.T, ensemble *curatortest.Ensemble) {
	t.Helper()
	client := curatortest.NewClient(t, ensemble.ConnectString())
	suite.Eventually(t, "the three members", func() bool { return len(client.CurrentEnsemble().Servers) == 3 })
	e := client.CurrentEnsemble()
	if clients := framework.ClientServers(e); clients != nil {
		t.Errorf("of %+v clients would connect to %v", e, clients)
	}
}
