package trial

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"plimsoll/internal/document"
)

// WriteReference writes the reference of trial files as Markdown, from the types that read them.
func WriteReference(w io.Writer, changes []Change) error {
	t := template.Must(template.New("reference").Funcs(template.FuncMap{
		"keys":      keyTable,
		"metrics":   func() string { return "`" + strings.Join(plainMetrics, "`, `") + "`" },
		"quantiles": func() string { return "`" + strings.Join(slices.Sorted(maps.Keys(quantiles)), "`, `") + "`" },
	}).Parse(referenceText))
	return t.Execute(w, map[string]any{
		"Spec": reflect.TypeFor[Spec](), "Cluster": reflect.TypeFor[Cluster](), "Load": reflect.TypeFor[Load](),
		"Phases": reflect.TypeFor[Phases](), "Variant": reflect.TypeFor[Variant](), "Changes": changes,
	})
}

// keyTable lists a struct's keys with what they are.
func keyTable(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("| key | | what |\n|---|---|---|\n")
	for _, f := range document.Fields(t) {
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, option, strings.ReplaceAll(f.Tag.Get("doc"), "|", "\\|"))
	}
	return b.String()
}

const referenceText = `# Trial files

This page is made from the code. For what a trial is, see [concepts](concepts.md); for the parameters of each workload, see
[workloads](workloads.md). An editor can check a trial with the [JSON Schema](schema/trial.schema.json): put
` + "`# yaml-language-server: $schema=docs/schema/trial.schema.json`" + ` into its first line.

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
| ` + "`run: NAME`" + `, ` + "`with: {…}`" + ` | a change; the phase has its name and lasts as long as it takes |

Changes:{{range .Changes}} ` + "`{{.Name}}`" + `{{end}}. Those of the lab take ` + "`node`" + ` (default n1) and ` + "`for`" + `: how long the node stays so
before it is started or thawed again. ` + "`mysql/attach-replica`" + ` stops the primary for a copy of its data: use it in a variant's
` + "`prepare`" + `.

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
| ` + "`recovery_time`" + ` | from the onset of a change's impact until the service was back |

| selector | |
|---|---|
| ` + "`throughput[\"binlog row\"]`" + ` | of a variant |
| ` + "`throughput.baseline`, `throughput.during(\"lab/freeze\")`" + ` | of a phase |
| ` + "`throughput.at(\"connections\", 64)`" + ` | at a level of a factor |
| ` + "`throughput.of(\"new_order\")`, `p99(response, \"new_order\")`" + ` | of one operation |

An expectation PASSes when its whole interval lies on the right side of the margin, FAILs when none of it does, and is
INCONCLUSIVE in between, with how much more it would take to tell. A trial is INVALID when the load generator was late, had too
few connections or was starved: then its numbers say nothing.
`
