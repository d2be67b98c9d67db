package health

import (
	"slices"
	"strings"
	"testing"
)

func TestProblems(t *testing.T) {
	leader := Server{Server: "a:1", Mode: "leader", Version: "3.8.4", Zxid: "0x200004e20"}
	follower := func(change func(s *Server)) Server {
		s := Server{Server: "b:1", Mode: "follower", Version: "3.8.4", Zxid: "0x200004e1f"}
		change(&s)
		return s
	}
	for name, tt := range map[string]struct {
		servers []Server
		want    []string // a part of each problem
	}{
		"well":          {[]Server{leader, follower(func(*Server) {})}, nil},
		"alone":         {[]Server{{Server: "a:1", Mode: "standalone"}}, nil},
		"down":          {[]Server{leader, {Server: "b:1", Error: "connection refused"}}, []string{"b:1 does not serve requests: connection refused."}},
		"all down":      {[]Server{{Server: "b:1", Error: "no"}}, []string{"b:1 does not serve", "No server serves requests."}},
		"no leader":     {[]Server{follower(func(*Server) {})}, []string{"None of these servers is the leader."}},
		"two leaders":   {[]Server{leader, {Server: "c:1", Mode: "leader", Version: "3.8.4"}}, []string{"more than one leader"}},
		"alone of two":  {[]Server{leader, {Server: "c:1", Mode: "standalone", Version: "3.8.4"}}, []string{"c:1 is a standalone server", "more than one leader"}},
		"no quorum":     {[]Server{leader, {Server: "c:1", Mode: "read-only", Version: "3.8.4"}}, []string{"c:1 has lost its quorum"}},
		"slow":          {[]Server{leader, follower(func(s *Server) { s.LatencyAvg = 120.4 })}, []string{"b:1 is slow: requests have taken 120 ms"}},
		"busy":          {[]Server{leader, follower(func(s *Server) { s.Outstanding = 500 })}, []string{"b:1 has 500 queued requests."}},
		"behind":        {[]Server{leader, follower(func(s *Server) { s.Zxid = "0x200000000" })}, []string{"b:1 is 20000 transactions behind the leader."}},
		"another epoch": {[]Server{leader, follower(func(s *Server) { s.Zxid = "0x1ffffffff" })}, []string{"b:1 is in an earlier epoch"}},
		"versions":      {[]Server{leader, follower(func(s *Server) { s.Version = "3.9.2" })}, []string{"different versions"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Problems(tt.servers)
			if len(got) != len(tt.want) || !slices.EqualFunc(got, tt.want, strings.Contains) {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestFigures(t *testing.T) {
	f, err := parseFigures("zk_version\t3.8\nzk_global_sessions\t7\nzk_watch_count\t12.0\nzk_ephemerals_count\tx\n")
	if err != nil || f != (Figures{Sessions: 7, Watches: 12, Ephemerals: -1, Followers: -1}) {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := parseFigures("mntr is not executed because it is not in the whitelist.\n"); err == nil {
		t.Error("a refusal is no error")
	}
}
