GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOLANGCI    ?= github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
ACTIONLINT  ?= github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
APIDIFF     ?= golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e
GOVULNCHECK ?= golang.org/x/vuln/cmd/govulncheck@v1.9.0
CYCLONEDX   ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
TESTFLAGS   ?=
BENCHFLAGS  ?= -benchmem
BENCHCHECKFLAGS ?=
BENCHDISTANCEFLAGS ?=
ENSEMBLEPROOFFLAGS ?=
MODELFLAGS  ?=
MUTANTSFLAGS ?=
KAZOOFLAGS  ?=
DURATION    ?= 10m
SEED        ?= 0
CHAOSFLAGS  ?=
ZOOKEEPER   ?=
MATRIXFLAGS ?=
ROLLINGFLAGS ?=
PROGRAMS    ?=
PROGRAMSFLAGS ?=
DIST        ?= dist
NESTED      := .ci/nested.sh
# What stands on other projects is tested when it changes, not with the library.
ADAPTERS    := recipes/adapters
# Tests that search and parse: the race detector would only make them ten times as slow. What the migration guide
# calls is tested with it elsewhere.
PURE        := ./internal/lint ./internal/migration ./internal/verify/chaos/replay
# Tests of which a part runs with the race detector, too: it makes all of them several times as slow.
LONG        := ./internal/sequences
# Tests of large volumes, and of each fault in each state, whose code others run with the race detector. They run
# without it. UNRACED=- runs them with it.
UNRACED     := Test(CrowdedClient|ListenerLimit|VeryManyWait|WatchLimit.*|ReadManyMemory|ReadManyOfAnySizes|(Start|Close)InBackgroundFaults)
# The tests of a package that run in parallel wait for real servers most of the time.
PARALLEL    := -parallel 4
# Half as many packages again as there are processors are tested at a time, because many wait. The tests of each have
# half of the processors: on more of them Go's scheduler looks for work in vain, and takes time from the other packages.
PROCESSORS  := $(shell getconf _NPROCESSORS_ONLN)
SHARE       := -p $(shell echo $$((($(PROCESSORS) * 3 + 1) / 2))) -cpu $(shell echo $$((($(PROCESSORS) + 1) / 2))) $(PARALLEL)

# Without the name of its folder in it, what was compiled in one clone is of use in each, with the same cache.
GOFLAGS := $(shell $(GO) env GOFLAGS) -trimpath

# The scripts and go read these from the environment, where make puts what its command line sets, too.
export GO GOFLAGS APIDIFF CYCLONEDX

.DEFAULT_GOAL := help

.PHONY: help
help: ### list the main targets
	@sed -n 's/^\([a-z-]*\):.* ## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: help-all
help-all: ## list all targets
	@sed -n 's/^\([a-z-]*\):.* ###* /  \1\t/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: setup
setup: ### install what the tests need, where that is known how; else say what it is
	@.ci/setup.sh

# go vet looks at the tests, too, so go test need not; with the same -race they share what they compile.
# The race detector sleeps for a second at the end of each process unless it is told not to. Thousands of short-lived
# clients in a small heap keep the garbage collector busy unless it is told to wait.
.PHONY: test
test: export GOGC := 400
test: setup ## run all tests but those of the adapters, most with the race detector, those against real ZooKeeper servers included; TESTFLAGS='-run Mutex -count=100' narrows it
	race=$$(.ci/race.sh) && $(GO) vet $$race ./... && \
		GORACE="atexit_sleep_ms=0 $$GORACE" $(GO) test $$race -vet=off -timeout 15m $(SHARE) -skip '^($(UNRACED))$$' $(TESTFLAGS) \
			$$($(GO) list ./... | grep -v $(PURE:./%=-e '/%$$'))
	$(GO) test -vet=off $(TESTFLAGS) $(PURE) $(LONG)
	folders=$$(grep -rlE 'func $(UNRACED)[(]' --include='*_test.go' . | sed 's,/[^/]*$$,,' | sort -u); \
		[ -z "$$folders" ] || $(GO) test -vet=off -run '^($(UNRACED))$$' $(TESTFLAGS) $$folders
	WITHOUT=$(ADAPTERS) $(NESTED) vet ./...
	WITHOUT=$(ADAPTERS) $(NESTED) test -vet=off $(PARALLEL) $(TESTFLAGS) ./...

.PHONY: adapters
adapters: setup ### run the tests of the adapters to other projects, and those projects' own, on both servers
	set -e; for dir in $(ADAPTERS)/*/; do $(GO) -C "$$dir" test -timeout 15m $(TESTFLAGS) ./...; done

.PHONY: soak
soak: setup ### make test RUNS times (20) on this commit, half of them two at a time; goes on where it was interrupted. record.tsv in SOAKDIR, without it ~/.cache/curator-soak, has a line for each run
	.ci/soak.sh

# Without a Java the tests take it that no ZooKeeper server is installed. The packages that are left out
# start processes and wait for them in real time.
.PHONY: quick
quick: ## vet and build the module, and run the rules and the tests in virtual time: with Go alone, in a minute
	$(GO) vet ./...
	$(GO) build ./...
	CI= JAVA_HOME=/nonexistent $(GO) test -vet=off -short -timeout 5m $(TESTFLAGS) \
		$$($(GO) list ./... | grep -v -e '/tools/bench/' -e '/tools/curator$$' -e '/tools/curatortest$$' -e '/internal/verify/mutants$$' -e '/internal/interop$$')

.PHONY: check
check: format vet staticcheck curatorvet golangci generated modules licences-check workflows lint alerts platforms ## run everything else that a change must pass: formatting, linters, generated code, modules, licences, alerts, other systems

.PHONY: format
format: ### see that gofmt has nothing to say
	@unformatted=$$(gofmt -l .) || exit; if [ -n "$$unformatted" ]; then \
		echo "not formatted; run gofmt -w on:" >&2; echo "$$unformatted" >&2; exit 1; fi

.PHONY: vet
vet: ### run go vet on all modules
	$(GO) vet ./...
	$(NESTED) vet ./...

.PHONY: staticcheck
staticcheck: ### run staticcheck on all modules
	$(GO) run $(STATICCHECK) ./...
	$(NESTED) run $(STATICCHECK) ./...

.PHONY: curatorvet
curatorvet: ### run tools/curatorvet on the library itself
	@.ci/curatorvet.sh

.PHONY: generated
generated: ### see that the generated code is current
	@.ci/generated.sh

.PHONY: lint
lint: ### test the rules of the repository
	$(GO) test -count=1 ./internal/lint

.PHONY: alerts
alerts: ### test the rules for Prometheus with promtool; fails without it if CI=true
	$(GO) test -count=1 -run 'Alert|Dashboard' ./internal/telemetry

.PHONY: modules
modules: ### see that go.mod and go.sum of all modules are tidy and complete
	$(GO) mod tidy -diff
	$(GO) mod verify
	TESTDATA=yes $(NESTED) mod tidy -diff
	TESTDATA=yes $(NESTED) mod verify

.PHONY: licences-check
licences-check: ### see that docs/licences.md is current
	$(GO) run ./tools/licences -check docs/licences.md

.PHONY: workflows
workflows: ### run actionlint on the public workflows
	$(GO) run $(ACTIONLINT) -shellcheck= -pyflakes=

.PHONY: platforms
platforms: ### compile all packages and tests for macOS and Windows
	@.ci/platforms.sh

# The configuration is found from the modules below, too. go run keeps what it has built.
.PHONY: golangci
golangci: ### run golangci-lint; without its cache it takes some minutes
	$(GO) run $(GOLANGCI) run --allow-parallel-runners
	$(NESTED) run $(GOLANGCI) run --allow-parallel-runners

.PHONY: vuln
vuln: ### look for known weaknesses in the dependencies; needs the network, and is not part of check
	$(GO) run $(GOVULNCHECK) -test ./...
	$(NESTED) run $(GOVULNCHECK) -test ./...

.PHONY: api
api: ## write what the module exports into docs/api.txt
	$(GO) run ./tools/apilist docs/api.txt

.PHONY: apidiff
apidiff: ### say what has changed in the public API since BASE, without it since the last release; APIDIFFFLAGS=-incompatible shows only what breaks users
	@.ci/apidiff.sh

.PHONY: release
release: ### build the published files of the command line tool into DIST, an empty folder; publishes nothing
	@.ci/release.sh "$(DIST)"

.PHONY: licences
licences: ### write the licences of the dependencies into docs/licences.md
	$(GO) run ./tools/licences docs/licences.md

.PHONY: servers
servers: ### fetch releases of ZooKeeper with Maven, a ZOOKEEPER_HOME each, into SERVERSDIR, without it ~/.cache/curator-servers; ZOOKEEPER='3.6 3.9' chooses
	.ci/servers/fetch.sh $(ZOOKEEPER)

.PHONY: matrix
matrix: setup ### run the tests with real servers on all releases that make servers fetches; ZOOKEEPER=3.9 chooses, MATRIXFLAGS='-write docs/platforms.md' writes the table
	homes=$$(.ci/servers/fetch.sh $(ZOOKEEPER)) && $(GO) run ./tools/verify matrix -homes "$$(echo $$homes)" $(MATRIXFLAGS)

.PHONY: keeper
keeper: setup ### run the suites of framework, cache, leader and locks on the embedded server as ClickHouse Keeper, and compare what fails with a table; see docs/platforms.md
	$(GO) run ./tools/verify matrix -keeper

.PHONY: peers
peers: setup ### run the tests together with other clients at their newest releases, see docs/platforms.md; PEERSDIR, without it ~/.cache/curator-peers, keeps them; needs Maven, npm, cargo and the network
	.ci/peers/run.sh $(TESTFLAGS)

.PHONY: generate
generate: ## write the generated code anew
	$(GO) generate ./...

.PHONY: bench
bench: ## run the benchmarks; BENCHFLAGS adds flags
	$(GO) test -run '^$$' -bench . $(BENCHFLAGS) ./...

.PHONY: bench-check
bench-check: ### compare the locks with others, and the ratios with those in docs/benchmarks; BENCHCHECKFLAGS adds flags
	$(GO) run ./tools/bench -quick -check docs/benchmarks/quick.json $(BENCHCHECKFLAGS)

.PHONY: bench-distance
bench-distance: ### record in docs/benchmarks what distance costs, and draw the plots; BENCHDISTANCEFLAGS adds flags
	for distance in 1ms 10ms; do \
		$(GO) run ./tools/bench -distance $$distance -peers floor,curator,curator-v2,zk.Lock,java -rounds 3 $(BENCHDISTANCEFLAGS) \
			-json docs/benchmarks/distance-$$distance.json.gz -markdown docs/benchmarks/distance-$$distance.md || exit; \
	done
	$(GO) -C tools/bench/compare run ./plot $(CURDIR)/docs/benchmarks \
		$(CURDIR)/docs/benchmarks/results.json.gz $(CURDIR)/docs/benchmarks/distance-1ms.json.gz $(CURDIR)/docs/benchmarks/distance-10ms.json.gz

.PHONY: ensemble-proof
ensemble-proof: ### break real ensembles in many ways, and see that no two clients hold a lock at once; ENSEMBLEPROOFFLAGS adds flags
	$(GO) run ./tools/verify ensemble $(ENSEMBLEPROOFFLAGS)

.PHONY: chaos
chaos: ## attack the recipes on a real ensemble for DURATION, from SEED (0: a random one), and judge what they did; CHAOSFLAGS='-runs 10' makes more of them
	$(GO) run ./tools/verify chaos -seed $(SEED) -duration $(DURATION) $(CHAOSFLAGS)

.PHONY: rolling
rolling: ### upgrade a real ensemble from 3.6 to 3.8 and 3.9, one server at a time, and back, under load; ZOOKEEPER='3.5 3.6' chooses the releases, ROLLINGFLAGS adds flags
	homes=$$(.ci/servers/fetch.sh $(or $(ZOOKEEPER),3.6 3.8 3.9)) && $(GO) run ./tools/verify rolling -homes "$$(echo $$homes)" $(ROLLINGFLAGS)

.PHONY: programs
programs: setup ### run programs of others on framework/zk, and compare with their own driver, in half an hour; PROGRAMS=vault,gokit chooses, PROGRAMSFLAGS='-write docs/programs.md' writes the page; needs the network
	$(GO) run ./tools/programs $(PROGRAMSFLAGS) $(PROGRAMS)

.PHONY: ui-pictures
ui-pictures: ### take the pictures of docs/ui.md anew
	CURATOR_UI_PICTURES=$(CURDIR)/docs/images $(GO) -C tools/curator/internal/ui/browsertest test -count=1 -timeout 5m -run '^TestDemo$$' .
	chmod 644 docs/images/ui-*.png

.PHONY: framework-load
framework-load: ### a thousand goroutines on one client for a minute, while a real server restarts
	$(GO) test -race -count=1 -timeout 5m -run '^TestLoad$$' ./framework -v -load 1m -workers 1000

.PHONY: framework-watches
framework-watches: ### what 100,000 watches on one client cost, and a reconnect with them
	$(GO) test -count=1 -timeout 5m -run '^TestManyWatches$$' ./framework -v -watches 100000

.PHONY: sequences
sequences: ### every component through every sequence of up to four things that can happen to it, up to three with the race detector
	$(GO) test -count=1 -timeout 60m ./internal/sequences -length 4
	$(GO) test -race -count=1 -timeout 60m ./internal/sequences -length 3

.PHONY: driver-suite
driver-suite: setup ### run the test suite of go-zookeeper/zk on framework/zk, with embedded and with real servers
	$(GO) test -count=1 -v -timeout 20m ./internal/driversuite -real

.PHONY: kazoo-suite
kazoo-suite: ### run the test suite of kazoo, the client for Python, on the embedded server; KAZOOFLAGS='-release 3.9.5' chooses the release that it answers as; needs the network once
	.ci/kazoo.sh $(KAZOOFLAGS)

.PHONY: model
model: ### explore the model of the algorithms, which takes hours; MODELFLAGS adds flags
	$(GO) run ./tools/verify explore $(MODELFLAGS)

.PHONY: model-check
model-check: ### explore the part of the model that takes seconds without the race detector
	$(GO) test -count=1 -timeout 5m ./internal/verify/model

.PHONY: mutants
mutants: ## break the algorithms one by one, see that tests notice, and write docs/mutants.md; MUTANTSFLAGS adds flags
	$(GO) run ./tools/verify mutants -write docs/mutants.md $(MUTANTSFLAGS)

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s); FUZZ is a regular expression that chooses some of them
	.ci/fuzz.sh
