package spec

import (
	"fmt"
	"io"
	"reflect"
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
		"keys": keyTable,
		"metrics": func() string {
			var b strings.Builder
			expect.WriteTable(&b)
			return b.String()
		},
	}).Parse(referenceText))
	return t.Execute(w, map[string]any{
		"Spec": reflect.TypeFor[Spec](), "Cluster": reflect.TypeFor[Cluster](), "Load": reflect.TypeFor[Load](),
		"Phases": reflect.TypeFor[Phases](), "Variant": reflect.TypeFor[Variant](), "Faults": p.Faults, "OwnPhases": "`" + strings.Join(ownPhases, "`, `") + "`",
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

Every key of a trial file, for people who write one. What a trial is: [concepts](concepts.md); the parameters of each workload:
[workloads](workloads.md). An editor can check the file with the [JSON Schema](schema/trial.schema.json) that
` + "`plimsoll schema trial`" + ` prints: write ` + "`# yaml-language-server: $schema=trial.schema.json`" + ` into the first line. Runbooks and the inventory
have a [schema](schema/runbook.schema.json) [each](schema/inventory.schema.json) too. This page is generated from the code.

{{keys .Spec}}
` + "`quick`" + ` may contain any of these keys; ` + "`--quick`" + ` uses them in place of the others. If the file has no ` + "`quick`" + `, ` + "`--quick`" + ` measures for 10 s
after 5 s of warm-up, in three rounds, at no more than three levels of each factor. ` + "`--set key=value`" + ` overrides everything,
for example ` + "`--set phases.measure=10s`" + `.

## cluster

{{keys .Cluster}}
## load

{{keys .Load}}
## compare

A factor is a key with a list of levels. Its name is ` + "`connections`" + `, ` + "`rate`" + `, a parameter of the workload, or ` + "`config.NAME`" + ` for
a setting of the server. ` + "`variant`" + ` holds named differences; the others are compared with the first, the control:

{{keys .Variant}}
## timeline

Steps that are executed one after another while the load runs. Each is a phase:

| step | what |
|---|---|
| ` + "`baseline: 60s`" + ` | the load alone; later phases are compared with it |
| ` + "`wait: 10s`" + ` | the load alone |
| ` + "`recovery: 60s`" + ` | the load alone, after a change |
| ` + "`run: NAME`" + `, ` + "`with: {…}`" + ` | a change or a runbook; the phase has its name and lasts as long as it takes |
| ` + "`as: NAME`" + ` | beside ` + "`run`" + `: the name of the phase. Consecutive runs with the same name are one phase. It cannot be one that a trial has anyway: {{.OwnPhases}} |

Changes of the lab:{{range .Faults}} ` + "`{{.Name}}`" + `{{if ne .Name .Action.Name}} ({{.Action.Name}}){{end}}{{end}}.
Each is an action, in brackets where it has another name, that is executed at once. They take ` + "`node`" + ` (default n1) and ` + "`for`" + `, the time after which
the node is started or thawed again.

- ` + "`lab/kill`" + ` kills the server with SIGKILL: what it had written to the operating system survives. After ` + "`lab/lose`" + ` it also stays dead, to test a failover.
- ` + "`lab/power-fail`" + ` also loses the writes that were not synced; it needs FUSE (root, or fusermount3).
- ` + "`lab/reconfigure`" + ` gives a ` + "`node`" + ` other settings (` + "`config`" + `) and restarts it, as a change of the instance class does.
- ` + "`lab/disk`" + ` gives a ` + "`node`" + ` of a cluster with a ` + "`disk`" + ` another disk while it serves (` + "`type`" + `, ` + "`size`" + `, ` + "`iops`" + `, ` + "`balance`" + `, ` + "`scale`" + `), as a cloud modifies a volume, but at once.
- ` + "`lab/restore`" + ` brings all nodes back to the data with which the cell began, as from a snapshot.
- ` + "`mysql/attach-replica`" + ` stops the primary to copy its data: use it in the ` + "`prepare`" + ` of a variant.

### Runbooks

Name a runbook that ships (` + "`mysql/rolling-restart`" + `; ` + "`plimsoll runbook list`" + ` lists them) or a file beside the trial (` + "`./change.yaml`" + `),
in the timeline or in ` + "`prepare`" + ` of the trial or of a variant. It is executed as in production, on the trial's own cluster.

SQL and commands need no runbook: ` + "`run: {sql: \"DELETE FROM plimsoll.sbtest1 WHERE id < 1000\"}`" + `, or a list of statements, on the primary or
` + "`on: n2`" + `; ` + "`run: {command: \"./purge.sh\"}`" + `. ` + "`as: purge`" + ` names the phase. You can also run any action by its name with its inputs:
` + "`{run: sql.execute, with: {statements: [\"…\"]}}`" + `. The workload's tables are in the database ` + "`plimsoll`" + `. These do not count as rehearsals.
If a command names a file, or a plain statement a table, that does not exist, and nothing that the trial executes earlier could create it, the trial ends before its load with COULD NOT RUN.

| key | what |
|---|---|
| ` + "`with: {node: n2}`" + ` | the runbook's inputs |
| ` + "`approve: true`" + ` | the trial gives the approvals that the runbook asks for, and the run records this. Without it, a run that needs an approval ends the trial |
| ` + "`limit: 10m`" + ` | how long the run may take. Default 10m |
| ` + "`refused: alone`" + ` | the plan must be refused by the step of this name; if it is not, the verdict is FAIL. A refused run does nothing and is no rehearsal |

Each step is recorded in events.jsonl (` + "`step.start`" + `, ` + "`step.end`" + `) and is a phase within the phase: ` + "`during(\"mysql/switchover\", \"promote\")`" + `
is the time in which that step was in progress. For a step that is executed for several nodes it is the time of all of them; ` + "`each[n2].restart`" + ` is
that of one. Guardrails can use the engine's metrics and those of the load in the last 3 s: ` + "`p50`" + `, ` + "`p95`" + `, ` + "`p99`" + ` (response time in ms; while
no operation completes, the time since the last one), ` + "`throughput`" + `, ` + "`errors`" + ` (per second) and ` + "`error_share`" + `. Their ` + "`baseline`" + ` is the phase ` + "`baseline`" + `.

If a run fails, or exceeds its limit, the verdict is FAIL: the change did not work. If a run cannot be planned, waits for a person, or
is paused because there are no metrics, the verdict is COULD NOT RUN, because nothing was learned. The measurements so far are kept, and the journal of each run
is kept as evidence in ` + "`runs/`" + ` (` + "`plimsoll runbook verify`" + `). A problem that a step overcame by itself, such as a server that ended
while it joined, is recorded in its ` + "`step.end`" + ` and in the report's notes.

**Rehearsals.** A trial with expectations records one rehearsal in the state folder for each runbook that it ran. The rehearsal has passed if the verdict
is PASS. A runbook with ` + "`gate: {rehearsals: 3}`" + ` may run in production after three consecutive passed rehearsals.

## phases

{{keys .Phases}}
## expect

Each line compares (` + "`< <= > >= == !=`" + `) metrics and numbers; ` + "`and`" + ` joins several comparisons. Plain numbers for latencies are milliseconds;
` + "`20ms`" + `, ` + "`1.5s`" + ` and ` + "`1%`" + ` work too. If both sides are metrics that are never zero, their ratio is judged, otherwise their
difference. An expectation applies to everything that it does not name: without a level of ` + "`connections`" + `, it must hold at every level.

| metric | |
|---|---|
{{metrics}}| ` + "`highest(\"mysql.threads_running\")`" + ` | the highest reading of a [signal](#signals); also ` + "`lowest`" + `, ` + "`mean`" + `, ` + "`last`" + ` |

| selector | selects |
|---|---|
| ` + "`throughput[\"binlog row\"]`" + ` | a variant |
| ` + "`throughput.baseline`" + `, ` + "`throughput.during(\"lab/freeze\")`" + ` | a phase |
| ` + "`throughput.during(\"mysql/rolling-restart\", \"restart\")`" + ` | a step of a runbook |
| ` + "`warmth.on(\"replica\")`" + `, ` + "`warm_time.on(\"n2\")`" + ` | a node, or all nodes with a role |
| ` + "`highest(\"mysql.replica_lag_seconds.n1\").on(\"n5\").recovery`" + ` | a signal on a node in a phase; without a node, it must hold on each node that shows the signal |
| ` + "`throughput.at(\"connections\", 64)`" + ` | a level of a factor |
| ` + "`throughput.of(\"new_order\")`" + `, ` + "`p99(response, \"new_order\")`" + ` | one operation |

An expectation PASSes if its whole interval lies on the right side of the margin, FAILs if none of it does, and is otherwise
INCONCLUSIVE, with an estimate of the rounds or time still needed. A single round decides only where the trial asks for it (` + "`rounds: 1`" + `), except that what is counted or
read, and not estimated, fails in one round. A trial is INVALID if the load generator was late, had too
few connections or was short of CPU, because its numbers then do not describe the database.

### Signals

A name that begins with ` + "`watch.`" + ` is a PromQL expression over the series that [a watch](watch.md) of the cluster would record:
` + "`highest(\"watch.plimsoll_replica_lag_seconds\") < 5s`" + `, ` + "`mean(\"watch.plimsoll_aas{wait='binlog'}\").during(\"measure\") < 2`" + `. If a node has several values, the
largest counts; an expression without the label ` + "`instance`" + ` applies to the whole cluster. The trial reads the servers itself and needs no watch.
A guardrail of a runbook writes the same as ` + "`watch[\"plimsoll_replica_lag_seconds\"] > 5`" + `.

Signals are read once a second and stored in signals.csv. A plain number is in the signal's own unit, which is the end of its name;
` + "`5s`" + ` is 5 for a signal in seconds. ` + "`lowest`" + `, ` + "`highest`" + ` and ` + "`last`" + ` are the readings themselves, ` + "`mean`" + ` has an interval; ` + "`last`" + `
is the last reading of the phase, in trials of one round. The signal is unknown where it was not read. So if a phase has no reading for more than 5 s, the expectation
is INCONCLUSIVE, unless the existing readings refute it; a signal that only exists after a change, such as the lag of a new channel, counts from its first reading. A
` + "`*`" + ` in the list below stands for a name that depends on the servers, such as that of a replication channel.

| shown by | signals |
|---|---|
{{range $who, $names := .Signals}}| {{$who}} | {{$names}} |
{{end}}`
