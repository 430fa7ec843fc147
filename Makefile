# make demo      a real trial, in under three minutes
# make check     what must hold at every commit: format, vet, lint, layers, short tests
# make test      everything, on real engines, which it fetches
# make bench     figures beside their peers, in alternating runs
# make accuracy  the tool against truth: writes docs/accuracy.md
# make docs      the reference pages, from the code

GOLANGCI := .cache/bin/golangci-lint-v2.15.0
TESTFLAGS ?=

.PHONY: build demo check test bench accuracy docs clean

build:
	go build -trimpath -o bin/plimsoll ./cmd/plimsoll

demo: build
	bin/plimsoll trial run examples/demo/trial.yaml

check: $(GOLANGCI)
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	$(GOLANGCI) run ./...
	go test -short ./...

test:
	go test -timeout 15m $(TESTFLAGS) ./...

bench: build
	go run ./internal/bench

accuracy:
	go run ./internal/accuracy

docs:
	go test ./cmd/plimsoll -run TestReferencePages -update

clean:
	rm -rf bin results

$(GOLANGCI):
	GOBIN=$(CURDIR)/.cache/bin go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv .cache/bin/golangci-lint $@
