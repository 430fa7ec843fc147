# make demo      a real trial, in under three minutes
# make check     what must hold at every commit: format, vet, lint, layers, short tests
# make test      everything, on real engines, which it fetches
# make bench     figures beside their peers, in alternating runs; SECTIONS=program for one of them
# make accuracy  the tool against truth: writes docs/accuracy.md
# make torture   the runbooks of MySQL, MariaDB and Cassandra on real servers, for hours: writes docs/torture.md
# make docs      the reference pages, from the code

GOLANGCI := .cache/bin/golangci-lint-v2.15.0
TESTFLAGS ?=
SECTIONS ?=

.PHONY: build demo check lint test bench accuracy torture docs clean

build:
	go build -trimpath -o bin/plimsoll ./cmd/plimsoll

demo: build
	@bin/plimsoll trial run examples/demo/trial.yaml || { verdict=$$?; \
		[ $$verdict -ge 3 ] && [ $$verdict -le 5 ] || exit $$verdict; \
		echo "That is an answer too: on a machine with other work the data may not be able to tell. Run it again when it is quiet."; }

check: lint
	go test -short ./...

lint: $(GOLANGCI)
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	$(GOLANGCI) run ./...

test: # the longest first, or it would run alone at the end
	go test -timeout 30m $(TESTFLAGS) ./runbook/action/cql ./trial ./catalog ./cmd/plimsoll ./runbook/action/mysql/... ./...

bench: build
	go run ./internal/bench $(SECTIONS)

accuracy:
	go run ./internal/accuracy

torture: build
	go run ./internal/torture

docs:
	go test ./cmd/plimsoll -run TestReferencePages -update

clean:
	rm -rf bin results

$(GOLANGCI):
	GOBIN=$(CURDIR)/.cache/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv .cache/bin/golangci-lint $@
