package rehearsal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// retries has deadlocks tried again, as applications do: workloads of transactions have some without any change, and they must not fail a
// rehearsal.
const retries = ", retries: 10"

// transactions are the load of a rehearsal on MySQL and MariaDB.
const transactions = "{workload: oltp_read_write, table_size: 20k, rate: 60, connections: 60, timeout: 5s" + retries + ", ledger: {rate: 20}}"

// usual is the load of a rehearsal by its product: a rate that any machine carries, so that what the change keeps waiting is seen.
var usual = map[string]string{"mariadb": transactions, "rds-mysql": transactions, "mysql": transactions}

const otherLoad = "{workload: ycsb-a, records: 20k, rate: 60, connections: 60, timeout: 5s, ledger: {rate: 20}}"

func usualLoad(product string) string {
	if load := usual[product]; load != "" {
		return load
	}
	return otherLoad
}

// text writes the trial as a person would, to be changed.
func (d *Draft) text(p Plan, place venue, with map[string]string) []byte {
	var b bytes.Buffer
	h := p.Prepared.Header
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Rehearses %s on %s (%s %s). Written by plimsoll runbook rehearse; change what your service must still deliver,", h.Runbook, place.is, h.Product, h.Version)
	line("# then: %s --trial %s", strings.ReplaceAll(p.Command, "\n", " "), hint.Quoted(p.File))
	line("# A rehearsal counts for the same text and inputs of the runbook.")
	for _, differs := range d.Differs {
		line("# Different from the cluster: %s.", differs)
	}
	line("trial: %s", nameOf(h.Runbook))
	line("question: %s", strconv.Quote(fmt.Sprintf("What does %s on %s cost the service?", h.Runbook, h.Cluster)))
	for _, text := range place.cluster {
		line("%s", text)
	}
	line("load: %s", p.load(place))
	if len(place.prepare) > 0 {
		line("prepare:")
	}
	for _, text := range place.prepare {
		line("%s", text)
	}
	line("timeline:")
	line("  - baseline: 20s")
	line("  - run: %s", strconv.Quote(p.Path))
	if len(with) > 0 {
		line("    with:")
		for _, name := range document.SortedKeys(with) {
			line("      %s: %s", name, strconv.Quote(with[name]))
		}
	}
	if p.Book.Approval() != "" || len(d.Asks) > 0 {
		line("    approve: true # %s; in production a person is asked", p.where())
	}
	line("    limit: 30m")
	line("  - recovery: 20s")
	line("phases: {warmup: 10s, rounds: 1%s}", place.restore())
	line("expect:")
	if p.Workload == "" {
		line("  - lost_writes == 0")
	}
	line("  - errors.recovery == 0")
	return b.Bytes()
}

// load is the trial's load: the workload that was asked for, else the usual one of the place.
func (p Plan) load(place venue) string {
	if p.Workload == "" {
		return place.load
	}
	again := ""
	if p.Retries {
		again = retries
	}
	return "{workload: " + strconv.Quote(p.Workload) + ", rate: 60, connections: 60, timeout: 5s" + again + "}"
}

// nameOf makes a runbook's name one of a trial.
func nameOf(book string) string {
	name := []byte("rehearse " + book)
	for i, c := range name {
		if c == '/' {
			name[i] = '-'
		}
	}
	return string(name)
}
