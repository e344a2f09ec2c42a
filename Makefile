# The targets of Stet. `make help` lists them; each prints one last line, `<target>: ...`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

# Sizes of the longer targets.
ROUNDS     ?= 20 # crash: how often the broker is killed. quorum, failover: faults. bench: how often A B B A is run
GB         ?= 1.5 # bench: gigabytes measured. recovery: gigabytes in the logs
DISCARD    ?= 3 # bench: gigabytes written before anything counts
PARTITIONS ?= 8 # bench, recovery: partitions. image (200000): of all topics, 100 each
START      ?= 100ms # conformance: median from exec to the first answer, at most
FUZZTIME   ?= 5m # fuzz: of each fuzz target
BOUND      ?= 64 # crashpoints: power-loss outcomes of one crash
N          ?= 100 # mutants: how many
CANARIES   ?= # canaries: ids, with commas; empty is all
MATRIX     ?= 40 # canaries: seeds of each for the matrix of canaries and checks
SCENARIO   ?= all # campaign: a scenario, or all
SEEDS      ?= 2500 # campaign, simulate (300), cover (25), matrix (50), mutants (15): seeds of each
                   # scenario. canaries: campaigns a canary (5)

GO  ?= go
TAGS = canary,slow,live

# BROKER is what the live targets judge; AGAINST is what bench compares it with.
BROKER  ?= bin/stet serve --data-dir {dir} --listen 127.0.0.1:{port}
AGAINST ?= bench/peer.sh serve {dir} {port}
LIVE     = $(GO) test -tags live -count=1 -v ./test/live -broker '$(BROKER)'

# $(call given,VARIABLE,SIZE) is a size that was asked for, else the target's own.
given = $(if $(filter file,$(origin $1)),$2,$(strip $($1)))

# Shell: tagged TAG runs the tests of the files that only builds with the tag have.
TAGGED = tagged() { \
	git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -l "^//go:build $$1$$" | \
	xargs grep -Ho '^func Test[A-Za-z0-9_]*(t ' | sed -E 's,/[^/]*:func (.*)\(.*, \1,' | \
	awk '{ names[$$1] = names[$$1] "|" $$2 } END { for (d in names) print d, substr(names[d], 2) }' | sort | \
	while read -r dir names; do $(GO) test -tags "$$1" -count=1 -run "^($$names)$$" "./$$dir" </dev/null; done; }

# The last line of a target that fails.
REPORT = trap '[ $$? = 0 ] || echo "$@: FAILED"' EXIT

.PHONY: help run test slow ci lint campaign simulate simulate-clusters simulate-replication cover crashpoints canaries mutants matrix replay \
	conformance crash quorum failover recovery hostile fuzz bench bench-replicated image clean bin/stet

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14
	echo "help: $$(grep -cE '^[a-z-]+:.*## ' $(MAKEFILE_LIST)) targets"

run: bin/stet ## start a broker on 127.0.0.1:9092 with data in ./data
	@bin/stet serve --data-dir data --listen 127.0.0.1:9092
	echo "run: stopped"

test: ## unit, contract, property and short simulation tests
	@$(REPORT)
	$(GO) test ./...
	echo "test: ok packages=$$($(GO) list ./... | wc -l)"

slow: ## tests that take minutes
	@$(REPORT)
	$(TAGGED)
	tagged slow
	echo "slow: ok"

ci: ## what a change has to pass: lint, tests, and a short form of every longer check
	@mkdir -p out
	: >out/ci
	rm -f out/ci.*
	trap 'status=$$?; grep -ho "SKIPPED.*" out/ci.* || true; cat out/ci; [ $$status = 0 ] || echo "ci: FAILED"' EXIT
	cpu() { # seconds, of the children so far; times has to run in this shell
		times >out/times
		awk -F '[ms ]+' 'NR == 2 { printf "%.0f", 60 * ($$1 + $$3) + $$2 + $$4 }' out/times
	}
	step() {
		local begin=$$SECONDS outcome=FAILED spent
		cpu >out/cpu && spent=$$(<out/cpu)
		$(MAKE) --no-print-directory "$$@" 2>&1 | tee "out/ci.$$1" && outcome=ok
		cpu >out/cpu
		echo "ci: $$outcome $$((SECONDS - begin)) s, cpu $$(($$(<out/cpu) - spent)) s: $$*" >>out/ci
		[ $$outcome = ok ]
	}
	# Bench is left out: it measures, and asserts nothing.
	step lint
	step test
	step slow
	step simulate SEEDS=60
	step simulate-clusters SEEDS=20
	step simulate-replication SEEDS=10
	step crashpoints BOUND=8
	# Those that a few seeds find; make canaries has all, and takes hours for the deepest.
	step canaries SEEDS=1 MATRIX=4 CANARIES=35,38,40,46,48,50,51,53,57,61,65,67,W1
	step mutants N=3 SEEDS=3
	step matrix SEEDS=2
	step fuzz FUZZTIME=5s
	step replay
	step hostile
	step conformance START=1s # other work may go on here
	step crash ROUNDS=3
	step quorum ROUNDS=3
	step failover ROUNDS=3
	step recovery GB=0.05
	echo "ci: ok $$SECONDS s" >>out/ci

lint: bin/staticcheck bin/gofumpt ## go vet, staticcheck, gofumpt
	@$(REPORT)
	$(GO) vet ./...
	$(GO) vet -tags $(TAGS) ./...
	bin/staticcheck -tags $(TAGS) ./...
	unformatted=$$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 bin/gofumpt -l)
	if [ -n "$$unformatted" ]; then
		echo "not formatted; run bin/gofumpt -w on:" $$unformatted
		exit 1
	fi
	echo "lint: ok"

campaign: bin/stet ## SEEDS seeds of SCENARIO, judged; over all, a mark never reached fails it too
	@$(REPORT)
	bin/stet sim campaign --scenario $(strip $(SCENARIO)) --seeds 1..$(strip $(SEEDS)) | tee out/campaign
	echo "campaign: ok $$(tail -n 1 out/campaign)"

simulate: bin/stet ## what a change is simulated with: SEEDS seeds of all scenarios, files in out/simulate-pr
	@STET=bin/stet ci/simulate.sh pr --seeds 1..$(call given,SEEDS,300)

simulate-clusters: bin/stet ## the same for controllers and brokers, in out/simulate-pr-clusters
	@STET=bin/stet ci/simulate.sh pr --scenario clusters --seeds 1..$(call given,SEEDS,100) --out out/simulate-pr-clusters

simulate-replication: bin/stet ## the same for replicas and their leaders, in out/simulate-pr-replication
	@STET=bin/stet ci/simulate.sh pr --scenario replication --seeds 1..$(call given,SEEDS,100) --out out/simulate-pr-replication

cover: ## how much of the core SEEDS seeds of all scenarios run through
	@ci/cover.sh $(call given,SEEDS,25)

crashpoints: bin/stet ## short scripts, crashed at every operation of the disk, BOUND outcomes each
	@$(REPORT)
	bin/stet sim crashpoints --bound $(strip $(BOUND))

canaries: ## put historical bugs back, one at a time; each must be found, SEEDS campaigns each
	@$(REPORT)
	$(TAGGED)
	mkdir -p bin out
	$(GO) build -tags canary -o bin/stet-canary ./cmd/stet
	$(GO) run ./scenarios/canaries -campaigns $(call given,SEEDS,5) -matrix $(strip $(MATRIX)) \
		-only '$(CANARIES)' bin/stet-canary | tee out/canaries
	tagged canary
	echo "canaries: ok $$(tail -n 1 out/canaries)"

mutants: ## N slips in the core: how many do SEEDS seeds of all scenarios find, how many the unit tests
	@$(REPORT)
	mkdir -p out
	$(GO) run ./scenarios/mutants -n $(strip $(N)) -seeds $(call given,SEEDS,15)

matrix: ## hashes of SEEDS seeds a scenario, across builds and environments; plants must be caught
	@$(REPORT)
	mkdir -p out
	$(GO) run ./scenarios/matrix -seeds $(call given,SEEDS,50) | tee out/matrix
	echo "matrix: ok $$(tail -n 1 out/matrix)"

replay: bin/stet ## a real node under eight clients, recorded and replayed; traces and schedules likewise
	@$(REPORT)
	$(GO) test -count=1 -run 'Record|Replay' ./node/... ./scenarios/...
	$(LIVE) -run RecordedRun
	echo "replay: ok"

conformance: bin/stet ## round trips by kcat and franz-go, limits, Kafka's tools, start, memory, syscalls
	@$(REPORT)
	skip='Kill|Recovery|Hostile|RecordedRun|Replicated|Throughput|Cluster([^O]|$$)' skipped=
	without() { # TESTS WHAT: what can not be checked here, and why
		skip="$$skip|$$1"
		skipped="$$skipped SKIPPED: $$2."
	}
	command -v kcat >/dev/null || without Kcat 'round trips by kcat: it is not installed'
	command -v strace >/dev/null || without Syscalls 'system calls: strace is not installed'
	(java -version && timeout 600 bench/peer.sh fetch) >out/peer 2>&1 ||
		without 'Dump|ClusterObeys' "Kafka's tools: $$(grep -m 1 ERROR out/peer || tail -n 1 out/peer)"
	$(LIVE) -skip "$$skip" -start-goal $(strip $(START))
	echo "conformance: ok$$skipped"

crash: bin/stet ## kill -9 under load, ROUNDS times; every acknowledged record is read back
	@$(REPORT)
	$(LIVE) -run 'SurviveKill' -rounds $(strip $(ROUNDS)) -torn $$(( $(strip $(ROUNDS)) >= 20 )) -timeout 30m | tee out/crash
	echo "crash: ok $$(grep -o 'rounds=.*' out/crash)"

quorum: bin/stet ## three nodes, ROUNDS faults of controllers; every acknowledged creation and deletion stands
	@$(REPORT)
	$(LIVE) -run 'Cluster' -skip 'ClusterObeys' -rounds $(strip $(ROUNDS)) -timeout 60m | tee out/quorum
	echo "quorum: ok $$(grep -m 1 -oE 'SKIPPED.*|rounds=.*' out/quorum)"

failover: bin/stet ## three nodes, ROUNDS faults of leaders under acks=all; every acknowledged record stands
	@$(REPORT)
	$(LIVE) -run 'Replicated' -rounds $(strip $(ROUNDS)) -timeout 120m | tee out/failover
	echo "failover: ok $$(grep -m 1 -oE 'SKIPPED.*|rounds=.* acked=.*' out/failover)"

recovery: bin/stet ## time the recovery of GB gigabytes in PARTITIONS partitions after kill -9
	@$(REPORT)
	$(LIVE) -run 'Recovery' -gb $(strip $(GB)) -partitions $(strip $(PARTITIONS)) | tee out/recovery
	echo "recovery: ok $$(grep -o 'gb=.*' out/recovery)"

hostile: bin/stet ## malformed, lying and oversized frames
	@$(REPORT)
	$(LIVE) -run 'Hostile'
	echo "hostile: ok"

fuzz: ## native fuzzing of everything that reads bytes from outside, FUZZTIME each
	@$(REPORT)
	# Minimizing a large input that is merely new would take a minute, in which nothing is tried.
	count=0
	while IFS=: read -r file target; do
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(strip $(FUZZTIME)) \
			-fuzzminimizetime 20x "./$${file%/*}" </dev/null
		count=$$((count + 1))
	done < <(git ls-files --cached --others --exclude-standard '*_test.go' | xargs grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sed 's/func //' | sort)
	[ $$count -gt 0 ]
	echo "fuzz: ok targets=$$count time=$(strip $(FUZZTIME))"

bench: bin/stet ## CPU and memory beside Apache Kafka: GB measured, DISCARD before, A B B A ROUNDS times
	@$(REPORT)
	$(GO) build -o bin/bench ./bench
	bin/bench compare --broker '$(BROKER)' --against '$(AGAINST)' --gb $(strip $(GB)) \
		--discard $(strip $(DISCARD)) --partitions $(strip $(PARTITIONS)) \
		--rounds $(call given,ROUNDS,1) | tee out/bench
	echo "bench: ok $$(grep -oE '^(produce|consume)[^ ]* .*' out/bench | tr '\n' ' ')"

bench-replicated: bin/stet ## CPU and one connection with three replicas, beside Apache Kafka's three nodes: A B B A
	@$(REPORT)
	$(LIVE) -run 'ThroughputOfThree' -replicate-gb $(strip $(GB)) -timeout 60m \
		-against-node 'bench/peer.sh node {dir} {node} {host} {controllers} min.insync.replicas=2' | tee out/bench-replicated
	echo "bench-replicated: ok $$(grep -o 'ratios: .*' out/bench-replicated)"

image: bin/stet ## what metadata of PARTITIONS partitions costs a controller, and a broker that hosts none
	@$(REPORT)
	$(GO) build -o bin/bench ./bench
	bin/bench image --topics $$(( $(call given,PARTITIONS,200000) / 100 )) | tee out/image
	echo "image: ok $$(grep -oE '^(create|restart|broker) .* \|' out/image | tr '\n' ' ')"

bin/stet:
	@mkdir -p out
	$(GO) build -o $@ ./cmd/stet

bin/staticcheck bin/gofumpt: tools/go.mod tools/go.sum
	@$(GO) -C tools build -o ../bin/ honnef.co/go/tools/cmd/staticcheck mvdan.cc/gofumpt
	touch bin/staticcheck bin/gofumpt

clean: ## remove what the targets built
	@rm -rf bin out
	echo "clean: ok"
