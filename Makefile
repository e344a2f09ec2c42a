# The targets of Stet. `make help` lists them; each prints one last line, `<target>: ...`.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

GO  ?= go
TAGS = canary,slow,live

# The last line of a target that fails.
REPORT = trap '[ $$? = 0 ] || echo "$@: FAILED"' EXIT

.PHONY: help test ci lint clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14
	echo "help: $$(grep -cE '^[a-z-]+:.*## ' $(MAKEFILE_LIST)) targets"

test: ## unit, contract, property and short simulation tests
	@$(REPORT)
	$(GO) test ./...
	echo "test: ok packages=$$($(GO) list ./... | wc -l)"

ci: lint test ## what a change has to pass: the lint and every test
	@echo "ci: ok"

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

bin/staticcheck bin/gofumpt: tools/go.mod tools/go.sum
	@$(GO) -C tools build -o ../bin/ honnef.co/go/tools/cmd/staticcheck mvdan.cc/gofumpt
	touch bin/staticcheck bin/gofumpt

clean: ## remove what the targets built
	@rm -rf bin out
	echo "clean: ok"
