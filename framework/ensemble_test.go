package framework_test

import (
	"net"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/go-curator/curator/framework"
)

func address(host string, quorum, election int) []framework.PeerAddress {
	return []framework.PeerAddress{{Host: host, QuorumPort: quorum, ElectionPort: election}}
}

// TestParseEnsemble reads what servers of 3.5 to 3.9 write.
func TestParseEnsemble(t *testing.T) {
	type server = framework.EnsembleServer
	for name, c := range map[string]struct {
		data    string
		want    framework.Ensemble
		clients []string
	}{
		"no ensemble": {"", framework.Ensemble{}, nil},
		"dynamic": {
			"server.2=zk2:2888:3888:observer;zk2.example.org:2182\nserver.1=zk1:2888:3888:participant;0.0.0.0:2181\nversion=100000002b",
			framework.Ensemble{Version: 0x100000002b, Servers: []server{
				{ID: 1, Addresses: address("zk1", 2888, 3888), ClientAddress: "0.0.0.0:2181"},
				{ID: 2, Observer: true, Addresses: address("zk2", 2888, 3888), ClientAddress: "zk2.example.org:2182"},
			}},
			[]string{"zk1:2181", "zk2.example.org:2182"},
		},
		"static": {
			"server.1=zk1:2888:3888:participant\nserver.2=zk2:2888:3888:participant;0.0.0.0:2181\nversion=0",
			framework.Ensemble{Servers: []server{
				{ID: 1, Addresses: address("zk1", 2888, 3888)},
				{ID: 2, Addresses: address("zk2", 2888, 3888), ClientAddress: "0.0.0.0:2181"},
			}},
			nil,
		},
		"a port alone, no role": {
			"server.3 = zk3:1:2;2181",
			framework.Ensemble{Servers: []server{{ID: 3, Addresses: address("zk3", 1, 2), ClientAddress: "0.0.0.0:2181"}}},
			[]string{"zk3:2181"},
		},
		"IPv6": {
			"server.1=[2001:db8::1]:2888:3888:PARTICIPANT;[0:0:0:0:0:0:0:0]:2181\r\nserver.2=[2001:db8::2]:2888:3888;[2001:db8::3]:2181\r\n",
			framework.Ensemble{Servers: []server{
				{ID: 1, Addresses: address("2001:db8::1", 2888, 3888), ClientAddress: "[0:0:0:0:0:0:0:0]:2181"},
				{ID: 2, Addresses: address("2001:db8::2", 2888, 3888), ClientAddress: "[2001:db8::3]:2181"},
			}},
			[]string{"[2001:db8::1]:2181", "[2001:db8::3]:2181"},
		},
		"several networks": {
			"server.1=10.0.0.1:2888:3888|10.1.0.1:2889:3889:participant;[::]:2181\nserver.2=10.0.0.1:2890:3890;2181",
			framework.Ensemble{Servers: []server{
				{ID: 1, Addresses: slices.Concat(address("10.0.0.1", 2888, 3888), address("10.1.0.1", 2889, 3889)), ClientAddress: "[::]:2181"},
				{ID: 2, Addresses: address("10.0.0.1", 2890, 3890), ClientAddress: "0.0.0.0:2181"},
			}},
			[]string{"10.0.0.1:2181", "10.1.0.1:2181"},
		},
		"weights and groups": {
			"group.1=1:2\nweight.1=1\n\nserver.1=a:1:2;3\nversion=a",
			framework.Ensemble{Version: 10, Servers: []server{{ID: 1, Addresses: address("a", 1, 2), ClientAddress: "0.0.0.0:3"}}},
			[]string{"a:3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := framework.ParseEnsemble([]byte(c.data))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, %v, want %+v", got, err, c.want)
			}
			if clients := framework.ClientServers(got); !slices.Equal(clients, c.clients) {
				t.Errorf("clients connect to %v, want %v", clients, c.clients)
			}
		})
	}
	for _, data := range []string{
		"server.x=a:1:2;3", "server.=a:1:2;3", "server.1=", "server.1", "server.1=a", "server.1=a:1", "server.1=a:1:2:3:4", "server.1=:1:2;3",
		"server.1=a:0:2;3", "server.1=a:1:65536;3", "server.1=a:1:-2;3", "server.1=a:1:2:leader;3", "server.1=a:1:2;", "server.1=a:1:2;x",
		"server.1=a:1:2;0", "server.1=a:1:2;a:b:3", "server.1=a:1:2;:3", "server.1=a:1:2;3;4", "server.1=[::1:1:2;3", "server.1=[]:1:2;3",
		"server.1=a:1:2|;3", "server.1=a b:1:2;3", "server.1=a,b:1:2;3", "version=x", "version=", "version=10000000000000000",
	} {
		if got, err := framework.ParseEnsemble([]byte(data)); err == nil || !reflect.DeepEqual(got, framework.Ensemble{}) {
			t.Errorf("%q: %+v, %v", data, got, err)
		}
	}
}

// FuzzParseEnsemble has every list of servers be one that can be connected to, and of every
// server that has a place for clients.
func FuzzParseEnsemble(f *testing.F) {
	f.Add("server.1=zk1:2888:3888:participant;0.0.0.0:2181\nserver.2=[::1]:2888:3888|b:1:2;[::]:2181\nversion=100000000")
	f.Fuzz(func(t *testing.T, data string) {
		e, err := framework.ParseEnsemble([]byte(data))
		if err != nil {
			return
		}
		clients := framework.ClientServers(e)
		for _, s := range e.Servers {
			if len(s.Addresses) == 0 || s.ClientAddress == "" && clients != nil {
				t.Errorf("server %+v of %q, clients %q", s, data, clients)
			}
		}
		for _, client := range clients {
			host, port, err := net.SplitHostPort(client)
			if n, _ := strconv.Atoi(port); err != nil || host == "" || n < 1 || n > 65535 {
				t.Errorf("%q has the server %q", data, client)
			}
		}
	})
}
