# The targets of Stet. `make help` lists them; each prints one last line, `<target>: ...`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

# Sizes of the longer targets.
ROUNDS     ?= 20 # crash: how often the broker is killed. bench: how often A B B A is run
GB         ?= 1.5 # bench: gigabytes measured. recovery: gigabytes in the logs
DISCARD    ?= 3 # bench: gigabytes written before anything counts
PARTITIONS ?= 8 # bench, recovery: partitions
FUZZTIME   ?= 5m # fuzz: of each fuzz target
CANARIES   ?= # canaries: ids, with commas; empty is all
SCENARIO   ?= all # campaign: a scenario, or all
SEEDS      ?= 2500 # campaign: seeds of each scenario. canaries: campaigns a canary

GO  ?= go
TAGS = canary,slow,live

# BROKER is what the live targets judge; AGAINST is what bench compares it with.
BROKER  ?= bin/stet serve --data-dir {dir} --listen 127.0.0.1:{port}
AGAINST ?= bench/peer.sh serve {dir} {port}
LIVE     = $(GO) test -tags live -count=1 -v ./test/live -broker '$(BROKER)'

# The last line of a target that fails.
REPORT = trap '[ $$? = 0 ] || echo "$@: FAILED"' EXIT

.PHONY: help run test ci lint campaign canaries replay conformance crash recovery hostile fuzz bench clean bin/stet

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

ci: lint test ## what a change has to pass: lint, tests, and a short form of longer checks
	@$(REPORT)
	$(MAKE) --no-print-directory campaign SEEDS=20 SCENARIO=single-node-kill
	$(MAKE) --no-print-directory campaign SEEDS=20 SCENARIO=single-node-power-loss
	$(MAKE) --no-print-directory replay
	$(MAKE) --no-print-directory hostile
	echo "ci: ok"

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

canaries: ## put historical bugs back, one at a time; each must be found, SEEDS campaigns each
	@$(REPORT)
	mkdir -p bin out
	$(GO) build -tags canary -o bin/stet-canary ./cmd/stet
	$(GO) run ./scenarios/canaries -campaigns $(if $(filter command line,$(origin SEEDS)),$(strip $(SEEDS)),5) \
		-only '$(CANARIES)' bin/stet-canary | tee out/canaries
	echo "canaries: ok $$(tail -n 1 out/canaries)"

replay: ## record a real node under eight connections and replay it; a trace likewise
	@$(REPORT)
	$(GO) test -count=1 -run 'Record|Replay' ./node/... ./scenarios/...
	echo "replay: ok"

conformance: bin/stet ## round trips by kcat and franz-go, limits, Kafka's dump tool, start, memory, syscalls
	@$(REPORT)
	$(LIVE) -skip 'Kill|Recovery|Hostile'
	echo "conformance: ok"

crash: bin/stet ## kill -9 under load, ROUNDS times; every acknowledged record is read back
	@$(REPORT)
	$(LIVE) -run 'SurviveKill' -rounds $(strip $(ROUNDS)) -torn $$(( $(strip $(ROUNDS)) >= 20 )) -timeout 30m | tee out/crash
	echo "crash: ok $$(grep -o 'rounds=.*' out/crash)"

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
	count=0
	for package in $$($(GO) list ./...); do
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(strip $(FUZZTIME)) $$package
			count=$$((count + 1))
		done
	done
	echo "fuzz: ok targets=$$count time=$(strip $(FUZZTIME))"

bench: bin/stet ## CPU and memory beside Apache Kafka: GB measured, DISCARD before, A B B A ROUNDS times
	@$(REPORT)
	$(GO) build -o bin/bench ./bench
	bin/bench compare --broker '$(BROKER)' --against '$(AGAINST)' --gb $(strip $(GB)) \
		--discard $(strip $(DISCARD)) --partitions $(strip $(PARTITIONS)) \
		--rounds $(if $(filter command line,$(origin ROUNDS)),$(ROUNDS),1) | tee out/bench
	echo "bench: ok $$(grep -oE '^(produce|consume)[^ ]* .*' out/bench | tr '\n' ' ')"

bin/stet:
	@mkdir -p out
	$(GO) build -o $@ ./cmd/stet

bin/staticcheck bin/gofumpt: tools/go.mod tools/go.sum
	@$(GO) -C tools build -o ../bin/ honnef.co/go/tools/cmd/staticcheck mvdan.cc/gofumpt
	touch bin/staticcheck bin/gofumpt

clean: ## remove what the targets built
	@rm -rf bin out
	echo "clean: ok"
