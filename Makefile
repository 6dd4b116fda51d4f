# Everything a developer does every day. The CI script .ci/run calls the same targets.
GO      ?= go
FUZZTIME ?= 20s
BENCH   ?= .
COUNT   ?= 1
SEEDS   ?= 20000
LAB_SEEDS ?= 60
JOBS    ?= 1
DURATION ?= 60s
CYCLES  ?= 10000
FLOODS  ?= 1
RUNS    ?= 3
REPEATS ?= 5

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

.PHONY: demo
demo: ## watch a server and its clients cope with a bad link (about 12 s)
	$(GO) run ./examples/demo

.PHONY: test
test: ## run every test
	$(GO) test ./...

.PHONY: race
race: ## run every test under the race detector
	$(GO) test -race -timeout 20m ./...

.PHONY: paths
paths: ## run what uses real sockets on every path to the system: RAKNET_SOCKET=offload, batch, single, plain
	@for path in offload batch single plain; do echo "RAKNET_SOCKET=$$path"; \
		RAKNET_SOCKET=$$path $(GO) test -count=1 -short . ./internal/endpoint ./internal/udp || exit 1; \
	done

.PHONY: lint
lint: ## gofmt, go vet, and staticcheck or golangci-lint where installed
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w):"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	@if command -v staticcheck >/dev/null; then echo staticcheck ./...; staticcheck ./...; else echo "staticcheck is not installed: skipped"; fi
	@if command -v golangci-lint >/dev/null; then echo golangci-lint run; golangci-lint run; else echo "golangci-lint is not installed: skipped"; fi

.PHONY: check
check: lint test race nested ## what must pass before a commit

# When the time for a target is over, the go command at times calls that a failure: "context deadline
# exceeded" and not one line more (golang/go#75804, mended in Go 1.27). A failing input always says more,
# and is written down, so that an output without anything else is the end of the time and no failure.
.PHONY: fuzz
fuzz: ## fuzz every target for FUZZTIME each (default 20s), JOBS of them at once (default 1)
	@list=$$($(GO) test -list '^Fuzz' ./...) || { echo "$$list"; exit 1; }; \
	each=$$(($$(getconf _NPROCESSORS_ONLN) / $(JOBS))); [ $$each -gt 0 ] || each=1; \
	echo "$$list" | awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' | \
	xargs -n 2 -P $(JOBS) sh -c 'run() { out=$$($(GO) test -run "^\$$" -fuzz "^$$2\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 2s -parallel '$$each' $$1 2>&1); }; \
		over() { [ "$$(printf "%s\n" "$$out" | grep -vE "^fuzz: |^--- FAIL: Fuzz|^FAIL|^exit status 1$$")" = "    context deadline exceeded" ]; }; \
		if run $$0 $$1 || over; \
		then echo "$$0 $$1 $$(printf "%s\n" "$$out" | grep elapsed: | tail -1)"; else printf "%s\n" "$$0 $$1" "$$out"; exit 1; fi'

.PHONY: sim
sim: ## play SEEDS scenarios in virtual time (default 20000) and the whole handshake matrix
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; $(GO) test -c -o "$$dir/sim" ./internal/netsim; \
	cores=$$(getconf _NPROCESSORS_ONLN); pids=""; failed=0; \
	for i in $$(seq 0 $$((cores - 1))); do \
		"$$dir/sim" -test.timeout 30m -test.v -test.run 'TestSim$$' -seeds=$(SEEDS) -shard=$$i/$$cores & pids="$$pids $$!"; \
	done; \
	for pid in $$pids; do wait $$pid || failed=1; done; \
	"$$dir/sim" -test.v -test.run 'TestHandshake' -matrix || failed=1; \
	exit $$failed

.PHONY: soak
soak: ## scenarios that nobody played before for DURATION (default 60s), then CYCLES connections over loopback (default 10000)
	$(GO) test -count=1 -timeout 0 -v -run 'TestSim$$' ./internal/netsim -args -first=$$(date +%s)000000 -seeds=1 -for=$(DURATION)
	$(GO) test -count=1 -timeout 0 -v -run 'TestConnectAndClose$$' . -args -cycles=$(CYCLES)

.PHONY: vectors
vectors: ## damage every byte of every hostile vector in every way (FLOODS=8: an eighth of the bytes of floods)
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; export GOGC=400; \
	for p in offline arq session endpoint; do $(GO) test -c -o "$$dir/$$p" ./internal/$$p || exit 1; done; \
	play() { (cd internal/$$1 && "$$dir/$$1" -test.timeout 1h -test.v -test.run 'Damaged|EveryPrefix' -exhaustive -part=$$2 -floods=$(FLOODS)); }; \
	play offline 0/1 || exit 1; \
	cores=$$(getconf _NPROCESSORS_ONLN); pids=""; failed=0; \
	for i in $$(seq 0 $$((cores - 1))); do \
		(play endpoint $$i/$$cores && play arq $$i/$$cores && play session $$i/$$cores) & pids="$$pids $$!"; \
	done; \
	for pid in $$pids; do wait $$pid || failed=1; done; \
	exit $$failed

.PHONY: mutants
mutants: ## put faults into the engine, one after the other, and see the simulation catch each
	$(GO) test -count=1 -timeout 20m -v -run 'TestMutationsAreCaught' ./internal/netsim -args -mutations

.PHONY: lab
lab: ## measure recovery and congestion control in virtual time: testdata/lab, docs/LAB.md (21 min of both cores; LAB_SEEDS=60)
	$(GO) run ./internal/lab/cmd -write . -seeds $(LAB_SEEDS)

.PHONY: bench
bench: ## measure beside bare sockets, TCP and other libraries: docs/PERFORMANCE.md (18 min of a machine that does nothing else; REPEATS=5)
	cd internal/bench && $(GO) run . -v -write ../.. -runs $(REPEATS)

.PHONY: bench-quick
bench-quick: ## the same in less than 3 min: fewer runs, fewer libraries, nothing written
	cd internal/bench && $(GO) run . -quick

.PHONY: bench-go
bench-go: ## run the benchmarks of the packages (BENCH=pattern COUNT=n)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./...

.PHONY: bench-net
bench-net: ## compare with kcp-go and quic-go over real sockets and bad links: docs/BENCH-NET.md (15 min of a machine that does nothing else; RUNS=3)
	cd internal/benchnet && $(GO) run . -v -write ../.. -runs $(RUNS)

.PHONY: bench-net-quick
bench-net-quick: ## the same in less than 3 min: fewer runs, fewer links, nothing written
	cd internal/benchnet && $(GO) run . -v -quick

.PHONY: attack
attack: ## attack a listener with real sessions, and a dialer, and write what it cost into docs/SECURITY.md (9 min of both cores)
	$(GO) run ./internal/attack -v -write .

.PHONY: attack-quick
attack-quick: ## the same in less than a minute: fewer rates, nothing written, no judgement of what depends on the machine
	$(GO) run ./internal/attack -quick

.PHONY: nested
nested: ## vet and test the modules that have dependencies of their own
	cd internal/benchnet && $(GO) vet ./... && $(GO) test ./...
	cd internal/bench && $(GO) vet ./... && $(GO) test ./...
	cd examples/gophertunnel && $(GO) vet ./... && $(GO) test ./...

# Every peer at once: most of the time they wait for each other.
define talk_to_peers
@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; export RAKNET_INTEROP=require RAKNET_INTEROP_RESULTS=$$dir; pids=""; failed=0; \
for m in . goraknet gophertunnel; do \
	(cd internal/interop/$$m && $(GO) test -count=1 -parallel 256 -timeout 20m ./...) & pids="$$pids $$!"; \
done; \
for pid in $$pids; do wait $$pid || failed=1; done; [ $$failed = 0 ] || exit 1; \
$(GO) run ./internal/interop/table -results "$$dir"
endef

.PHONY: interop
interop: peers ## talk to other implementations, and compare with docs/INTEROP.md; needs node, npm and tshark, and fails without them
	$(talk_to_peers) -check

.PHONY: interop-table
interop-table: peers ## the same, but write docs/INTEROP.md anew
	$(talk_to_peers)

.PHONY: peers
peers: internal/interop/peers/node_modules ## fetch the other implementations, those that run in node and those in Go
	@for m in internal/interop/goraknet internal/interop/gophertunnel examples/gophertunnel; do (cd $$m && $(GO) mod download) || exit 1; done

internal/interop/peers/node_modules: internal/interop/peers/package-lock.json
	cd internal/interop/peers && npm ci --no-audit --no-fund
	touch $@

.PHONY: cover
cover: ## show which code the tests reach
	$(GO) test -coverpkg=./... -coverprofile=cover.out ./...
	$(GO) tool cover -func=cover.out | tail -1
