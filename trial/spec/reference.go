package spec

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/probe"
	"plimsoll/trial/expect"
)

// WriteReference writes the reference of trial files as Markdown, from the types that read them.
func WriteReference(w io.Writer, p Parts) error {
	t := template.Must(template.New("reference").Funcs(template.FuncMap{
		"keys":      keyTable,
		"metrics":   func() string { return codes(expect.PlainMetrics) },
		"quantiles": func() string { return codes(slices.Sorted(maps.Keys(expect.Quantiles))) },
	}).Parse(referenceText))
	return t.Execute(w, map[string]any{
		"Spec": reflect.TypeFor[Spec](), "Cluster": reflect.TypeFor[Cluster](), "Load": reflect.TypeFor[Load](),
		"Phases": reflect.TypeFor[Phases](), "Variant": reflect.TypeFor[Variant](), "Faults": p.Faults,
		"Signals": p.signals(),
	})
}

// signals are the names of all signals by who shows them, in code, in the order of the names.
func (p Parts) signals() map[string]string {
	all := map[string]string{"the load generator": codes(loadSignals())}
	for whose, names := range probe.Shown() {
		all[whose] = codes(names)
	}
	for name, e := range p.Engines {
		if instrumented, is := e.(engine.Instrumented); is {
			all[name] = codes(instrumented.Signals())
		}
	}
	return all
}

func codes(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

// keyTable lists a struct's keys with what they are.
func keyTable(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("| key | | what |\n|---|---|---|\n")
	for _, f := range document.Fields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		required := ""
		if document.HasOption(f, "required") {
			required = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, required, strings.ReplaceAll(f.Tag.Get("doc"), "|", "\\|"))
	}
	return b.String()
}

const referenceText = `# Trial files

This page is made from the code. For what a trial is, see [concepts](concepts.md); for the parameters of each workload, see
[workloads](workloads.md). An editor can check a trial with the [JSON Schema](schema/trial.schema.json), which
` + "`plimsoll schema trial`" + ` prints: put ` + "`# yaml-language-server: $schema=trial.schema.json`" + ` into its first line. Runbooks and the inventory
have a [schema](schema/runbook.schema.json) [each](schema/inventory.schema.json) too.

{{keys .Spec}}
` + "`quick`" + ` holds any of these keys again; ` + "`--quick`" + ` puts them over the others. Without it, ` + "`--quick`" + ` measures for 10 s
after 5 s of warm-up, in three rounds, at no more than three levels of each factor. ` + "`--set key=value`" + ` goes over everything,
for example ` + "`--set phases.measure=10s`" + `.

## cluster

{{keys .Cluster}}
## load

{{keys .Load}}
## compare

A factor is a key with a list of levels. Its name is ` + "`connections`, `rate`, a parameter of the workload, or `config.NAME`" + ` for
a setting of the server. ` + "`variant`" + ` holds named differences; the first is the control that the others are held against:

{{keys .Variant}}
## timeline

Steps, one after another, while the load goes on. Each makes a phase:

| step | what |
|---|---|
| ` + "`baseline: 60s`" + ` | the load alone; what follows is held against it |
| ` + "`wait: 10s`" + ` | the load alone |
| ` + "`recovery: 60s`" + ` | the load alone, after a change |
| ` + "`run: NAME`" + `, ` + "`with: {…}`" + ` | a change or a runbook; the phase has its name and lasts as long as it takes |
| ` + "`as: NAME`" + ` | beside ` + "`run`" + `: calls the phase so. Runs that follow one another under one name are one phase |

Changes of the lab:{{range .Faults}} ` + "`{{.Name}}`" + `{{if ne .Name .Action.Name}} ({{.Action.Name}}){{end}}{{end}}. Each is an action, in brackets where
it has another name there, that is done at once and ended after a time. They take ` + "`node`" + ` (default n1) and ` + "`for`" + `: how long the node stays so
before it is started or thawed again. ` + "`lab/kill`" + ` is a SIGKILL: what the server had handed to the system survives;
` + "`lab/lose`" + ` is one after which it stays dead, as a failover needs it.
` + "`lab/power-fail`" + ` takes what was not synced too; it needs FUSE (root, or fusermount3). ` + "`lab/reconfigure`" + ` gives a ` + "`node`" + ` other
settings (` + "`config`" + `) and restarts it, as a move to an instance of another size does. ` + "`lab/disk`" + `
gives a ` + "`node`" + ` of a cluster with a ` + "`disk`" + ` another one while it serves (` + "`type`, `size`, `iops`, `balance`, `scale`" + `), as a cloud modifies a volume, but at once. ` + "`lab/restore`" + ` brings all nodes back to the data that the
cell began with, as from a snapshot. ` + "`mysql/attach-replica`" + ` stops the primary for a copy of its data: use it in a variant's
` + "`prepare`" + `.

### Runbooks

A runbook is run by its name (` + "`mysql/rolling-restart`; `plimsoll runbook list`" + `), or from a file beside the trial (` + "`./change.yaml`" + `),
in the timeline or in ` + "`prepare`" + `, the trial's or a variant's. It is executed as in production, on the trial's own cluster.

SQL and commands need no runbook: ` + "`run: {sql: \"DELETE FROM plimsoll.sbtest1 WHERE id < 1000\"}`" + `, or a list of statements, on the primary or
` + "`on: n2`" + `; ` + "`run: {command: \"./purge.sh\"}`" + `. ` + "`as: purge`" + ` names the phase. Any action is run by its name with its inputs:
` + "`{run: sql.execute, with: {statements: [\"…\"]}}`" + `. The workload's tables stand in the database ` + "`plimsoll`" + `. No gate counts these.

| key | what |
|---|---|
| ` + "`with: {node: n2}`" + ` | its inputs |
| ` + "`approve: true`" + ` | approvals and cautions are answered, and the run says that the trial did. Without it, a run that asks ends the trial |
| ` + "`limit: 10m`" + ` | how long the run may take. Default 10m |
| ` + "`refused: alone`" + ` | its plan must be refused, by this step; if it is not, the trial FAILs. Nothing was done then, and nothing rehearsed |

Each step is stamped in events.jsonl (` + "`step.start`, `step.end`" + `) and is a phase within the phase: ` + "`during(\"mysql/switchover\", \"promote\")`" + `
are the seconds in which that step was under way at all; a step that is done for several nodes is all of them, or one by its key,
` + "`each[n2].restart`" + `. Guardrails see the load beside the engine's metrics, of the last 3 s: ` + "`p50`, `p95`, `p99`" + ` (response, in ms; while
nothing ends, the time since something did), ` + "`throughput`, `errors`" + ` (per second) and ` + "`error_share`" + `. Their ` + "`baseline`" + ` is the phase of that name.

A run that fails, or has not ended at its limit, ends the trial with FAIL: the change did not work. One that cannot be planned, asks a person, or
is held because there are no metrics, ends it with COULD NOT RUN: nothing was learned. What was measured is kept, and the journal of each run
is evidence in ` + "`runs/`" + ` (` + "`plimsoll runbook verify`" + `). What went wrong on a step's way and was mended by it, such as a server that ended
while it joined, stands in its ` + "`step.end`" + ` and in the report's notes.

**Rehearsals.** A trial with expectations leaves one rehearsal for each runbook that it ran, in the state folder: passed if the trial
PASSed. A runbook with ` + "`gate: {rehearsals: 3}`" + ` may touch production after three in a row.

## phases

{{keys .Phases}}
## expect

Each line is a comparison (` + "`< <= > >= == !=`" + `) of metrics and numbers; ` + "`and`" + ` joins several. Latencies count in milliseconds;
` + "`20ms`, `1.5s` and `1%`" + ` can be written too. Where both sides are metrics that are never zero, their ratio is judged, else their
difference. What an expectation leaves open is asked everywhere: one that names no level of ` + "`connections`" + ` holds at each.

| metric | |
|---|---|
| ` + "`throughput`" + ` | operations completed per second |
| ` + "`p99(response)`" + ` | time from the intended start; also {{quantiles}}, ` + "`mean`, `max`" + `, and ` + "`(service)`" + ` for the time from the actual start |
| ` + "`errors`, `late`, `skipped`" + ` | counted, not estimated |
| ` + "`error_share`" + ` | errors of what was scheduled, 0 to 1 |
| ` + "`recovery_time`" + ` | the longest time from when a change began to be felt until throughput, response times and errors were all as before; with a ledger, the longest time from one acknowledged write to the next, from a change on |
| ` + "`impact_time`" + ` | the same until throughput, response times and errors were all as before, also with a ledger; where they were not within the data, more than that |
| ` + "`lost_writes`, `duplicated_writes`, `corrupt_writes`, `stale_reads`" + ` | counted by a ledger (` + "`load: {ledger: {rate: 200}}` or `workload: ledger`" + `), over all rounds; during a change, those that it is to blame for |
| ` + "`recovery_point`" + ` | with a ledger: how much older the oldest lost write is than the last acknowledgement before the database stopped answering; 0 when none is lost |
| ` + "`warmth`" + ` | the share, 0 to 1, of a node's pages of the data set that a change left in its memory; of several nodes the least |
| ` + "`warm_time`" + ` | from the end of a change until a node's miss share was back within 1 % of what it had been, for 3 s; of several nodes the longest |
| ` + "`highest(\"mysql.threads_running\")`" + ` | of a [signal](#signals), the highest reading; also ` + "`lowest`, `mean`, `last`" + ` |

| selector | |
|---|---|
| ` + "`throughput[\"binlog row\"]`" + ` | of a variant |
| ` + "`throughput.baseline`, `throughput.during(\"lab/freeze\")`" + ` | of a phase |
| ` + "`throughput.during(\"mysql/rolling-restart\", \"restart\")`" + ` | of a step of a runbook |
| ` + "`warmth.on(\"replica\")`, `warm_time.on(\"n2\")`" + ` | of a node, or of those that play a part |
| ` + "`highest(\"mysql.replica_lag_seconds.n1\").on(\"n5\").recovery`" + ` | of a signal, on a node and in a phase; one that names no node holds on each that shows the signal |
| ` + "`throughput.at(\"connections\", 64)`" + ` | at a level of a factor |
| ` + "`throughput.of(\"new_order\")`, `p99(response, \"new_order\")`" + ` | of one operation |

An expectation PASSes when its whole interval lies on the right side of the margin, FAILs when none of it does, and is
INCONCLUSIVE in between, with how much more it would take to tell. A trial is INVALID when the load generator was late, had too
few connections or was starved: then its numbers say nothing.

### Signals

A name that begins with ` + "`watch.`" + ` is an expression in PromQL over the series that [a watch](watch.md) of the cluster would write:
` + "`highest(\"watch.plimsoll_replica_lag_seconds\") < 5s`, `mean(\"watch.plimsoll_aas{wait='binlog'}\").during(\"measure\") < 2`" + `. Of several values of a node the
largest counts; an expression that keeps no label ` + "`instance`" + ` is of the whole cluster. The trial reads the servers for it itself, and needs no watch.

Signals are read once a second and kept in signals.csv. A number beside one counts in the signal's own unit, which is the end of its name;
` + "`5s`" + ` beside a signal in seconds is 5. ` + "`lowest`, `highest` and `last`" + ` are facts about what was read, ` + "`mean`" + ` has an interval; ` + "`last`" + `
is the last reading of the phase, of trials of one round. What was not read may have been anything. So where a phase has no reading for more than 5 s, the expectation
is INCONCLUSIVE, unless what was read refutes it; a signal that a change brings about, as a new channel its lag, counts from its first reading. A
` + "`*`" + ` below is a name that is up to the servers, of replication its channel.

| shown by | signals |
|---|---|
{{range $who, $names := .Signals}}| {{$who}} | {{$names}} |
{{end}}`
