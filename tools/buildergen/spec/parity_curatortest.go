package spec

// curatorTest is the part of the table about the module curator-test.
var curatorTest = []Section{
	{Title: "curator-test", Rows: []Parity{
		{"TestingServer.new", "curatortest.Start, curatortest.Real, curatortest.New", "", "in the test's process, or ZooKeeper itself"},
		{"TestingServer.start; stop; restart; close", "curatortest.Server.Start, curatortest.Server.Stop, curatortest.Server.Restart, curatortest.Server.Close", "", "the end of the test closes it"},
		{"TestingServer.getConnectString; getPort", "curatortest.Server.ConnectString", "", ""},
		{"TestingServer.getTempDirectory", "", Needless, "its directory goes with the test"},
		{"TestingCluster.new; start; stop; close; getConnectString; getInstances; getServers", "curatortest.RealEnsemble, curatortest.Ensemble.Start, curatortest.Ensemble.Stop, curatortest.Ensemble.Close, curatortest.Ensemble.ConnectString, curatortest.Ensemble.Members", "", ""},
		{"TestingCluster.killServer; restartServer", "curatortest.Member.Kill, curatortest.Member.Restart", "", "also Pause, Isolate, and each direction of each link"},
		{"TestingCluster.findConnectionInstance", "curatortest.Ensemble.MemberOf", "", ""},
		{"TestingCluster.makeSpecs; InstanceSpec.*; QuorumConfigBuilder.*; TestingZooKeeperServer.*", "curatortest.Option, curatortest.WithSettings", "", "options; ports are the system's choice"},
		{"KillSession.kill", "curatortest.Server.ExpireSession, curatortest.Ensemble.ExpireSession", "", ""},
		{"Timing.*", "curatortest.Virtual", "", "time is virtual, so nothing waits: a test says what must happen when, not how long to be patient"},
		{"BaseClassForTests.*; CuratorTestBase.*", "", Needless, "`curatortest.Start` ends with the test"},
		{"WatchersDebug.*", "curatortest.Server.Watches", "", ""},
		{"DelegatingExecutorService.*; ExecuteCalledWatchingExecutorService.*", "", Threads, ""},
		{"DirectoryUtils.*; FailedServerStartException.*; TestingZooKeeperMain.*; TestingQuorumPeerMain.*; ZooKeeperMainFace.*; ZooKeeperServerEmbeddedAdapter.*", "", Internal, ""},
	}},
}
