package driversuite_test

// leftOut has the tests of the driver that do not run on framework/zk, with the reason, and functions that only
// these use.
var leftOut = map[string]string{
	"TestDeadlockInClose":    "makes a Conn without Connect, with the driver's queue of requests",
	"TestNotifyWatches":      "tests the driver's table of watches",
	"TestEncodeDecodePacket": "tests the driver's encoding",
	"TestRequestStructForOp": "tests the driver's encoding",
	"TestEncodeShortBuffer":  "tests the driver's encoding",
	"TestDecodeShortBuffer":  "tests the driver's encoding",
	"BenchmarkEncode":        "measures the driver's encoding",
	"encodeDecodeTest":       "is a part of TestEncodeDecodePacket",
}

// replaced has the declarations that testdata/cluster.go has in another form.
var replaced = []string{
	"server", "server.Start", "server.Stop",
	"NewIntegrationTestServer", "StartTestCluster",
	"TestCluster.waitForStart",
}

// inspections has, for a test, the variables and the fields with which it inspects the driver's encoded requests:
// the statements that have one of them are left out.
var inspections = map[string][]string{
	"TestIntegration_SetWatchers": {
		"setWatchLimit", "setWatchCallback", "setWatchReqs", "bufferSize", "totalWatches", "actualReqs",
	},
}

// texts has the texts that are replaced everywhere.
var texts = map[string]string{
	`"super:test"`:    `"super:super"`, // the superuser of the servers of curatortest
	"zk.conn.Close()": "zk.hooks.conn.Close()",
}
