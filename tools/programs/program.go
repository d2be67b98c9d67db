package main

import "time"

// driver says which ZooKeeper driver a copy of a program uses.
type driver string

const (
	original driver = "original" // the one that the program came with
	ours     driver = "ours"     // framework/zk of this work tree
)

// server is a kind of server.
type server string

const (
	embedded   server = "embedded"
	realServer server = "real"
)

// The import paths of drivers.
const (
	goZookeeper = "github.com/go-zookeeper/zk"
	zDivision   = "github.com/z-division/go-zookeeper/zk"
	shim        = curator + "/" + shimDir
)

// program is a program that others have written.
type program struct {
	name    string // as the command line has it
	title   string // as the table has it
	module  string
	version string
	driver  string // the import path of its driver
	edits   []edit // what more must change than the import, because the driver is a fork with additions
	suites  []suite
	// weak has the faults that the program does not survive with framework/zk, with the reason in the program.
	weak map[string]string
	// broken has the program's own tests that fail whatever the driver, with the reason.
	broken map[string]string
}

// edit changes one line of a file, or removes it.
type edit struct{ file, from, to string }

// suite is one run of go test.
type suite struct {
	pkg     string // relative to the module
	tags    string
	run     string        // as go test has it; empty for all
	skip    string        // as go test has it
	env     string        // the variable that has the address of the server for tests of the program's own
	file    string        // a test file of ours below testdata that is written into the package; empty for none
	faults  bool          // the file makes faults by package scenario, and starts its own servers
	timeout time.Duration // of the tests, without building them
	// racy has tests that depend on a short time, with the reason. If one fails, it runs again.
	racy map[string]string
}

// programs returns the programs of the tables. An entry's tests are as many as the program has for its code
// that uses ZooKeeper.
func programs() []program {
	return []program{
		{
			name: "gokit", title: "go-kit, `sd/zk`",
			module: "github.com/go-kit/kit", version: "v0.13.0", driver: goZookeeper,
			suites: []suite{
				{
					pkg: "./sd/zk", tags: "integration", env: "ZK_ADDR", timeout: 2 * time.Minute,
					racy: map[string]string{"TestGetEntriesOnServer": "it gives a watch 50 ms"},
				},
				{pkg: "./sd/zk", file: "gokit/curator_faults_test.go", faults: true, timeout: 5 * time.Minute},
			},
			weak: map[string]string{
				"session_expired":      "the registrar registers once, and never again",
				"reply_of_a_read_lost": "the instancer keeps no watch after a failed read, and is deaf from then on",
			},
		},
		{
			name: "prometheus", title: "Prometheus, `discovery/zookeeper`",
			module: "github.com/prometheus/prometheus", version: "v0.316.0", driver: goZookeeper,
			suites: []suite{
				{pkg: "./discovery/zookeeper", timeout: 2 * time.Minute},
				{pkg: "./discovery/zookeeper", file: "prometheus/curator_faults_test.go", faults: true, timeout: 5 * time.Minute},
			},
		},
		{
			name: "vault", title: "HashiCorp Vault, `physical/zookeeper`",
			module: "github.com/hashicorp/vault", version: "v1.21.4", driver: goZookeeper,
			suites: []suite{
				{pkg: "./physical/zookeeper", env: "ZOOKEEPER_ADDR", timeout: 2 * time.Minute},
				{pkg: "./physical/zookeeper", file: "vault/curator_faults_test.go", faults: true, timeout: 8 * time.Minute},
			},
		},
		{
			name: "vitess", title: "Vitess, `zk2topo`",
			module: "vitess.io/vitess", version: "v0.24.4", driver: zDivision,
			edits: []edit{ // framework/zk looks names up again by itself, and has the states of go-zookeeper
				{"go/vt/topo/zk2topo/zk_conn.go", "\thostProvider := zk.WithHostProvider(&zk.SimpleDNSHostProvider{})\n", ""},
				{"go/vt/topo/zk2topo/zk_conn.go", "dialer, hostProvider)", "dialer)"},
				{"go/vt/topo/zk2topo/zk_conn_test.go", "State().IsConnected()", "State() == zk.StateHasSession"},
			},
			suites: []suite{
				{
					pkg: "./go/vt/topo/zk2topo", run: "^(TestHasObservers|TestTopoServer)$", env: "CURATOR_ZK_ADDR",
					file: "vitess/curator_suite_test.go", timeout: 10 * time.Minute,
					racy: map[string]string{"TestTopoServer/checkLock": "it gives a lock 10 ms"},
				},
			},
		},
	}
}

// absent are programs that stand in the table with the reason why they are not tested.
var absent = []struct{ title, module, why string }{
	{"valkeyrie, its ZooKeeper store", "github.com/kvtools/zookeeper", notServed},
	{"kratos, `contrib/registry/zookeeper`", "github.com/go-kratos/kratos/contrib/registry/zookeeper/v2", notServed},
	{"dubbo-go, `remoting/zookeeper`", "dubbo.apache.org/dubbo-go/v3", notServed},
	{"kitex, `registry-zookeeper`", "github.com/kitex-contrib/registry-zookeeper", notServed},
}

const notServed = "its module was not to be had"
