package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/loadcmd"
	"plimsoll/infra/ssh/sshtest"
)

// TestRealLoadFromOtherMachines where each loader has an address and a network of its own: one schedule is dealt out exactly, the database is reached from both
// addresses, and a loader whose network is gone is accounted for while the other goes on.
func TestSoakLoadFromOtherHosts(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes a minute, and root: make soak")
	}
	if apart(t) {
		return
	}
	hosts := sshtest.Hosts(t, 2)
	onlySSH(t)
	inventory, err := os.ReadFile("plimsoll.yaml")
	if err != nil {
		t.Fatal(err)
	}
	server := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(inventory))
	front := forward(t, hosts[0].Here, server)                                                     // the server of the test listens on the loopback, which is another in each namespace
	a, b := hosts[0].Start(t, "ClientAliveInterval 2", "ClientAliveCountMax 3"), hosts[1].Start(t) // of a, whose link goes down, no session may be left
	write(t, "plimsoll.yaml", fmt.Sprintf(`machines:
  loader-a: {ssh: %[1]s, config: %[2]s}
  loader-b: {ssh: %[1]s, config: %[3]s}
clusters:
  orders: {engine: mariadb, environment: lab, user: root, database: shop, nodes: [{name: a, address: "%[4]s"}]}
`, sshtest.Alias, a.Config, b.Config, front.Addr()), 0o600)
	workload := []string{"--target", "orders", "--workload", "oltp_point_select", "--param", "table_size=1000", "--param", "tables=1"}
	if out, said, code := typed(t, append([]string{"load", "prepare"}, workload...)...); code != 0 {
		t.Fatalf("prepare: %d %s%s", code, out, said)
	}
	issue := func(duration string, said *noticing, from ...string) (s loadcmd.Summary, code int) {
		t.Helper()
		args := append([]string{"load", "run", "--rate", "200", "--arrivals", "uniform", "--connections", "64", "--duration", duration, "--seed", "7", "--json"}, workload...)
		for _, f := range from {
			args = append(args, "--from", f)
		}
		var out strings.Builder
		code = typedAt(t, console.Streams{In: strings.NewReader(""), Out: &out, Err: said}, args...)
		if err := json.Unmarshal([]byte(out.String()), &s); err != nil {
			t.Fatalf("load run: %d %s%s", code, out.String(), said)
		}
		return s, code
	}
	one, _ := issue("4s", &noticing{})
	front.forget()
	said := &noticing{}
	two, code := issue("4s", said, "loader-a", "loader-b")
	if code != 0 || two.Scheduled != one.Scheduled || two.Operations != two.Scheduled || two.Scheduled < 790 {
		t.Errorf("from two hosts: %d %+v, from here: %+v\n%s", code, two.Tally, one.Tally, said)
	}
	for _, h := range hosts {
		if got := front.callers()[h.Address]; got == 0 {
			t.Errorf("no connection to the database came from %s: %v", h.Address, front.callers())
		}
	}
	// One host is off the network in the middle: what was due there is booked, and nothing is left there. The other is not held up.
	said = &noticing{word: "p50", then: func() { hosts[0].Unplug(t) }}
	cut, code := issue("30s", said, "loader-a", "loader-b")
	if code != console.ExitTrouble || !strings.Contains(said.String(), "(loader-a) was lost") || strings.Contains(said.String(), "(loader-b) was lost") {
		t.Errorf("a host without a network: %d\n%s", code, said)
	}
	if lost := cut.ErrorClasses["loader_lost"]; cut.Scheduled < 5900 || lost < 1000 || lost > cut.Scheduled/2 || cut.Operations < cut.Scheduled/2 {
		t.Errorf("of %d operations %d were done, and %d count as lost: %v", cut.Scheduled, cut.Operations, lost, cut.ErrorClasses)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(20 * time.Second); len(runningFrom(t, a.Runtime)) > 0; <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("processes are left on the host: %v", runningFrom(t, a.Runtime))
		}
	}
}

// forwarder hands on connections, and knows where they came from.
type forwarder struct {
	net.Listener
	mu   sync.Mutex
	from map[string]int // by address
}

func forward(t *testing.T, at, to string) *forwarder {
	t.Helper()
	l, err := net.Listen("tcp", at+":0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forwarder{Listener: l, from: map[string]int{}}
	var open sync.WaitGroup
	t.Cleanup(func() { _ = l.Close() })
	open.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			host, _, _ := net.SplitHostPort(near.RemoteAddr().String())
			f.mu.Lock()
			f.from[host]++
			f.mu.Unlock()
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				open.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					_ = way[0].Close()
					_ = way[1].Close()
				})
			}
		}
	})
	return f
}

func (f *forwarder) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.from)
}

func (f *forwarder) callers() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.from)
}
