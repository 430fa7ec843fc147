# make demo      a real trial, in under three minutes
# make demo-watch  a fleet to look at on the page: three servers, a load, a replica that falls behind; ends after five minutes
# make check     what must hold at every commit: format, vet, lint, layers, short tests
# make test      everything, on real engines, which it fetches
# make bench     figures beside their peers, in alternating runs; SECTIONS=program for one of them
# make accuracy  the tool against truth: writes docs/accuracy.md
# make torture   the runbooks of MySQL, MariaDB and Cassandra on real servers, for hours: writes docs/torture.md
# make torture-rds  the runbooks of RDS and Aurora on a stand-in of the API in front of real servers, for two hours: adds to docs/torture.md
# make soak      tests that take too long for every change, such as a ring that moves onto Super Disks: docs/soak.md
# make kube      changes through operators, against a real API server of Kubernetes, which it builds: half an hour
# make copies    Plimsoll killed in the middle of copies to a leg of a Super Disk, on three lab machines, 200 times: adds to docs/torture.md
# make disks     Plimsoll killed at every entry of the journals of the runbooks of a Super Disk, on two labs of machines: adds to docs/torture.md
# make attack    processes and servers killed at random, on MariaDB, MySQL and a ring, for an hour each: adds to docs/torture.md
# make attack-outside  the program killed from outside, and the servers asked with their own clients, for up to an hour each: docs/torture/outside
# make docs      the reference pages, from the code
# make install   into PREFIX, with tab completion and manual pages
# make release   a tarball for each architecture, and their checksums, in dist/
# make module    the module by another path, where go install can fetch it: make module MODULE=github.com/OWNER/plimsoll

# One kind of build for all: a clean machine would compile everything three times over, for the tests, for the program and for a
# release, and each time takes minutes. Nearly a third of that are AWS's clients, which wait for
# their network: they are not optimized (docs/decisions/265).
export CGO_ENABLED := 0
PLAINLY := '-gcflags=github.com/aws/aws-sdk-go-v2/service/...=-N -l -dwarf=false'
export GOFLAGS := $(shell go env GOFLAGS) -trimpath $(PLAINLY)

GOLANGCI := .cache/bin/golangci-lint-v2.15.0
GOTESTSUM := .cache/bin/gotestsum-v1.13.0
TESTFLAGS ?=
PACKAGES ?= ./action/cql ./cmd/plimsoll ./trial/... ./runbook/... ./action/superdisk ./action/mysql/... ./catalog ./action/fault ./web ./lab ./superdisk ./watch/... ./workload/... ./...
SECTIONS ?=
KUBE ?= $(CURDIR)/.cache/kubernetes-1.34.4
PREFIX ?= /usr/local
VERSION ?= $(shell git describe --tags --always --dirty)
TELLS = -X main.release=$(VERSION) -X main.builtAt=$(shell git log -1 --format=%cI)
RELEASE = -ldflags "-s -w $(TELLS)"
DIST ?= dist
ARCHES ?= amd64 arm64

.PHONY: build helpers demo demo-watch check lint test bench accuracy torture torture-rds soak kube attack attack-outside copies disks docs clean share install release module

build: helpers
	go build -ldflags "$(TELLS)" -o bin/plimsoll ./cmd/plimsoll

helpers: # what Plimsoll puts on other machines, carried by the program itself
	@echo "Compiling; the first time this takes some minutes."
	@for arch in amd64 arm64; do \
		built=bin/plimsoll-machine-linux-$$arch packed=infra/remote/helper/built/plimsoll-machine-linux-$$arch.gz; \
		GOOS=linux GOARCH=$$arch go build -ldflags "-s -w" -o $$built ./cmd/plimsoll-machine || exit 1; \
		gzip -dc $$packed 2>/dev/null | cmp -s - $$built || gzip -9nc $$built >$$packed || exit 1; done

demo: build
	@bin/plimsoll trial run examples/demo/trial.yaml || { verdict=$$?; \
		[ $$verdict -ge 3 ] && [ $$verdict -le 5 ] || exit $$verdict; \
		echo "That is an answer too: on a machine with other work the data may not be able to tell. Run it again when it is quiet."; }

demo-watch: build
	@examples/watch/demo.sh bin/plimsoll

check: lint
	go test -short -vet=off ./...

# go vet is among its linters. A third of its processor time went into collecting a heap that is needed for a minute.
lint: $(GOLANGCI)
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo "run gofmt -w on these"; exit 1; }
	GOGC=300 GOMEMLIMIT=5GiB $(GOLANGCI) run ./...

# The longest first, or they would run alone at the end, but not both packages with rings of Cassandra. Most of a test's time is waited
# for servers: more run than there are processors. What go vet finds make lint has told. docs/decisions/130 says why a failed test is run
# twice, 200, 262, 270 and 278 what makes the suite fast; nobody debugs a hundred test programs, and without -w each takes a second longer to link.
test: $(GOTESTSUM)
	$(GOTESTSUM) --format standard-quiet --rerun-fails=1 --rerun-fails-max-failures=12 \
		--packages="$(PACKAGES)" -- -p 3 -parallel 4 -vet=off -ldflags=-w -timeout 40m $(TESTFLAGS)

bench: build
	go run ./internal/bench $(SECTIONS)

accuracy:
	go run ./internal/accuracy

torture: build
	go run ./internal/torture

soak:
	PLIMSOLL_SOAK=1 go test ./watch/sink -run TestSoak -v -count 1 -timeout 30m
	PLIMSOLL_SOAK=1 go test ./cmd/plimsoll -run 'TestSoak|TestSingleStoresRunbooksStandTheTorture' -v -count 1 -timeout 1h
	PLIMSOLL_SOAK=1 go test ./catalog -run 'TestSoak|TestTroublesOfARingInTrials' -v -count 1 -timeout 1h
	PLIMSOLL_SOAK=1 go test ./action/cql -run TestOnARealRing -v -count 1 -timeout 1h
	PLIMSOLL_SOAK=1 go test ./infra/... ./internal/machinetest -run TestSoak -v -count 1 -timeout 30m
	PLIMSOLL_SOAK=1 go test ./web -run TestBrowser -v -count 1 -timeout 30m

kube: # against a real API server of Kubernetes, which is built once, from its Go module
	infra/kube/kubetest/apiserver/build.sh $(KUBE)
	PLIMSOLL_KUBE=$(KUBE) go test ./infra/kube ./action/kube -run 'RealAPIServer' -v -count 1 -timeout 40m

torture-rds:
	go test ./cmd/plimsoll -run TestRDSRunbooksStandTheTorture -timeout 3h -torture-results "$(CURDIR)/docs/torture"
	go run ./internal/torture -page

attack: build
	go run ./internal/torture -mixed 100

attack-outside: build
	for product in mariadb mysql cassandra; do go run ./internal/attack -product $$product -out docs/torture/outside/$$product.json || exit 1; done

copies: build
	go run ./internal/torture -copies 69 -within 2h

disks: build
	go run ./internal/torture -disks all -at-once 2 -within 2h

docs:
	go test ./cmd/plimsoll -run TestReferencePages -update

share: helpers # the program as it is released, and from it the manual pages and the tab completion
	go build $(RELEASE) -o bin/plimsoll ./cmd/plimsoll
	rm -rf bin/share
	mkdir -p bin/share/bash-completion/completions bin/share/zsh/site-functions bin/share/fish/vendor_completions.d
	bin/plimsoll completion bash >bin/share/bash-completion/completions/plimsoll
	bin/plimsoll completion zsh >bin/share/zsh/site-functions/_plimsoll
	bin/plimsoll completion fish >bin/share/fish/vendor_completions.d/plimsoll.fish
	bin/plimsoll man bin/share/man/man1

# Not every shell expands the ~ of PREFIX=~/.local.
INTO = $(abspath $(DESTDIR)$(patsubst ~/%,$(HOME)/%,$(PREFIX)))

install: share
	install -D -m 755 bin/plimsoll $(INTO)/bin/plimsoll
	cd bin/share && find . -type f -exec install -D -m 644 {} $(INTO)/share/{} \;

release: share
	rm -rf $(DIST) && mkdir -p $(DIST)
	for arch in $(ARCHES); do name=plimsoll-$(VERSION)-linux-$$arch; mkdir -p $(DIST)/$$name/bin; \
		if [ "$$(go env GOOS)-$$(go env GOARCH)" = linux-$$arch ]; then cp bin/plimsoll $(DIST)/$$name/bin || exit 1; \
		else GOOS=linux GOARCH=$$arch go build $(RELEASE) -o $(DIST)/$$name/bin/plimsoll ./cmd/plimsoll || exit 1; fi; \
		cp -r README*.md LICENSE CHANGELOG.md docs examples bin/share $(DIST)/$$name/; \
		tar -C $(DIST) --owner=0 --group=0 --sort=name --mtime=@$$(git log -1 --format=%ct) -czf $(DIST)/$$name.tar.gz $$name && rm -r $(DIST)/$$name; done
	cd $(DIST) && sha256sum *.tar.gz >SHA256SUMS

# Imports end a line; the few other texts that name a package of the module are programs that tests build, and beginnings of paths.
module:
	@test -n "$(MODULE)" || { echo "Say which path: make module MODULE=github.com/OWNER/plimsoll"; exit 2; }
	old=$$(go list -m) && go mod edit -module $(MODULE) && \
	find . -name '*.go' -not -path './.cache/*' -exec sed -i -E "s#\"$$old/(cmd/|\"|[^\"]*\"\$$)#\"$(MODULE)/\1#" {} + && \
	sed -i -E "s#\((\*?)$$old/#(\1$(MODULE)/#; s#local-prefixes: \[$$old\]#local-prefixes: [$(MODULE)]#" .golangci.yml
	gofmt -w $$(find . -name '*.go' -not -path './.cache/*')

clean:
	rm -rf bin results

$(GOLANGCI):
	GOBIN=$(CURDIR)/.cache/bin go install -ldflags=-w github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv .cache/bin/golangci-lint $@

$(GOTESTSUM):
	GOBIN=$(CURDIR)/.cache/bin go install gotest.tools/gotestsum@v1.13.0
	mv .cache/bin/gotestsum $@
