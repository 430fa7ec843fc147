// Command bench measures Plimsoll's figures beside those of its peers, in alternating runs on one machine: ratios and
// medians, since the absolute numbers are this machine's.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
)

// section is one comparison.
type section struct {
	name, about string
	run         func(ctx context.Context, o options) error
}

// options are the same for all sections.
type options struct {
	plimsoll string // the binary under test
	pairs    int
	seconds  int
	pages    int    // of 4 KiB, in the pools of advise-stall
	target   string // of a server that runs already; empty: a lab's
}

// sections in the order in which they are run. To add one, add a line.
func sections() []section {
	return []section{
		{"program", "the size of the binary, its start, its memory and its ports while a run waits", program},
		{"harness", "what the load generator costs by itself, on a client that does nothing", harness},
		{"pointselect", "MySQL point select beside sysbench, at 16 and 64 connections", pointSelect},
		{"advise-fleet", "advice for a fleet of 200 from two weeks of stored series", adviseFleet},
		{"advise-stall", "what lists of cached pages cost a MariaDB and a MySQL, with -pages of them in memory", adviseStall},
		{"cql", "reads of a record from Cassandra beside the Go driver used bare, 64 in flight", cqlReads},
		{"superdisk", "what is copied when a node moves to another machine with its network volume, and how long writes wait", superDisk},
		{"superdisk-status", "what a look at the status of an array costs the machine, and the synced writes of its service", superDiskStatus},
		{"watch-overhead", "what a MariaDB and a MySQL under load feel of being watched", watchOverhead},
		{"watch-queries", "what each query of the watch costs a MariaDB and a MySQL, of their processor", watchQueries},
		{"watch-sessions", "the same of servers with 200 and 1,000 sessions", watchSessions},
		{"watch-distress", "how a watch treats a server on which many threads run, and what that costs the server", watchDistress},
		{"watch-often", "what a MariaDB and a MySQL under load lose to a watch, by one that reads them twenty times as often", watchOften},
		{"watch-instances", "how many instances a core watches, against servers of recorded answers", watchInstances},
		{"watch-shards", "instances shared out over several processes that send to one store", watchShards},
		{"watch-alert", "from a cause to the message that somebody gets", watchAlert},
		{"watch-query", "a day of forty series, as Grafana asks for it", watchQuery},
		{"watch-idle", "the memory of a watch of ten instances", watchIdle},
		{"watch-documents", "documents a second into a real OpenSearch on this machine", watchDocuments},
		{"web", "the budgets of the pages that are times, in a real browser", webBudgets},
		{"watch-killed", "kill -9 of processes that write series, and of a watch that collects them, 100 times each", watchKilled},
	}
}

func main() {
	var o options
	flag.StringVar(&o.plimsoll, "plimsoll", "bin/plimsoll", "the binary to measure")
	flag.IntVar(&o.pairs, "pairs", 5, "how many alternating pairs of runs; for each of them watch-overhead measures 20 pairs of slices of one run, and advise-stall 16")
	flag.IntVar(&o.seconds, "seconds", 10, "length of a run")
	flag.IntVar(&o.pages, "pages", 1_500_000, "pages of 4 KiB in the pool, for advise-stall: the default takes 6.6 GiB of memory and as much disk")
	flag.StringVar(&o.target, "target", "", "mysql:// or cql://user:password@host:port/database of a server that runs already, for one section (default: a lab of its own)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: bench [flags] [section …]")
		for _, s := range sections() {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-12s %s\n", s.name, s.about)
		}
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if is, err := beMachine(ctx); is {
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if file := os.Getenv(replayVariable); file != "" {
		fmt.Fprintln(os.Stderr, "bench:", beReplay(file))
		os.Exit(1)
	}
	if os.Getenv(bareVariable) != "" {
		if err := beBare(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, names []string) error {
	unknown := slices.Clone(names)
	for _, s := range sections() {
		family, _, _ := strings.Cut(s.name, "-")
		called := func(name string) bool { return name == s.name || name == family }
		if len(names) > 0 && !slices.ContainsFunc(names, called) {
			continue
		}
		unknown = slices.DeleteFunc(unknown, called)
		fmt.Printf("## %s: %s\n\n", s.name, s.about)
		if err := s.run(ctx, o); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Println()
	}
	if len(unknown) > 0 {
		return fmt.Errorf("there is no section %q", unknown[0])
	}
	return nil
}
