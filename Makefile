GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
TESTFLAGS   ?=
BENCHFLAGS  ?= -benchmem
BENCHCHECKFLAGS ?=
BENCHDISTANCEFLAGS ?=
ENSEMBLEPROOFFLAGS ?=
NESTED      := GO="$(GO)" .ci/nested.sh

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: setup
setup: ## install what the tests need, where that is known how; else say what it is
	@.ci/setup.sh

.PHONY: test
test: setup ## run all tests, those against real ZooKeeper servers included
	$(GO) vet ./...
	race=$$(GO="$(GO)" .ci/race.sh) && $(GO) test $$race -timeout 20m $(TESTFLAGS) ./...
	$(NESTED) vet ./...
	$(NESTED) build -o /dev/null ./...
	$(NESTED) test $(TESTFLAGS) ./...

.PHONY: check
check: format vet staticcheck generated lint ## run everything else that a change must pass

.PHONY: format
format:
	@unformatted=$$(gofmt -l .) || exit; if [ -n "$$unformatted" ]; then \
		echo "not formatted; run gofmt -w on:" >&2; echo "$$unformatted" >&2; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...
	$(NESTED) vet ./...

.PHONY: staticcheck
staticcheck:
	$(GO) run $(STATICCHECK) ./...
	$(NESTED) run $(STATICCHECK) ./...

.PHONY: generated
generated:
	@GO="$(GO)" .ci/generated.sh

.PHONY: lint
lint:
	$(GO) test -count=1 ./internal/lint

.PHONY: generate
generate: ## write the generated code anew
	$(GO) generate ./...

.PHONY: bench
bench: ## run the benchmarks
	$(GO) test -run '^$$' -bench . $(BENCHFLAGS) ./...

.PHONY: bench-check
bench-check: ## compare the locks with others, and the ratios with those in docs/benchmarks
	$(GO) run ./tools/bench -quick -check docs/benchmarks/quick.json $(BENCHCHECKFLAGS)

.PHONY: bench-distance
bench-distance: ## record in docs/benchmarks what distance costs, and draw the plots
	for distance in 1ms 10ms; do \
		$(GO) run ./tools/bench -distance $$distance -peers floor,curator,curator-v2,zk.Lock,java -rounds 3 $(BENCHDISTANCEFLAGS) \
			-json docs/benchmarks/distance-$$distance.json -markdown docs/benchmarks/distance-$$distance.md || exit; \
	done
	$(GO) -C tools/bench/plot run . $(CURDIR)/docs/benchmarks \
		$(CURDIR)/docs/benchmarks/results.json $(CURDIR)/docs/benchmarks/distance-1ms.json $(CURDIR)/docs/benchmarks/distance-10ms.json

.PHONY: ensemble-proof
ensemble-proof: ## break real ensembles in many ways, and see that no two clients hold a lock at once
	$(GO) run ./tools/ensembleproof $(ENSEMBLEPROOFFLAGS)

.PHONY: ui-pictures
ui-pictures: ## take the pictures of docs/ui.md anew
	CURATOR_UI_PICTURES=$(CURDIR)/docs/images $(GO) -C tools/curator/internal/ui/browsertest test -count=1 -timeout 5m -run '^TestDemo$$' .
	chmod 644 docs/images/ui-*.png

.PHONY: framework-load
framework-load: ## a thousand goroutines on one client for a minute, while a real server restarts
	$(GO) test -race -count=1 -timeout 5m -run '^TestLoad$$' ./framework -v -load 1m -workers 1000

.PHONY: framework-watches
framework-watches: ## what 100,000 watches on one client cost, and a reconnect with them
	$(GO) test -count=1 -timeout 5m -run '^TestManyWatches$$' ./framework -v -watches 100000
