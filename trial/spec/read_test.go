package spec_test

import (
	"strings"
	"testing"
	"time"

	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
)

const remembering = `trial: kept
cluster: {engine: mysql}
load: {workload: oltp,   ledger: {rate: 200, reads: 20}}
timeline:
  - baseline: 60s
  - run: lab/freeze
  - recovery: 30s
expect:
  - lost_writes.during("lab/freeze") == 0
  - recovery_point < 1s and recovery_time < 5s
  - stale_reads + corrupt_writes + duplicated_writes == 0
`

func TestComparisonBecomesCells(t *testing.T) {
	got := spectest.Parse(t, spectest.Comparing, spec.Options{})
	var names []string
	for _, c := range got.Cells {
		names = append(names, c.Name)
	}
	want := "binlog off, connections=4|binlog row, connections=4|binlog off, connections=8|binlog row, connections=8"
	if strings.Join(names, "|") != want {
		t.Errorf("cells %q, want %q", names, want)
	}
	c := got.Cells[3]
	if c.Load.Connections != 8 || c.Cluster.Config["log_bin"] != "on" || c.Cluster.Config["innodb_buffer_pool_size"] != "512M" || c.Control {
		t.Errorf("cell %+v %+v", c.Cell, c.Cluster)
	}
	if !got.Cells[0].Control || got.Cells[0].Data != got.Cells[3].Data {
		t.Error("the first variant is the control, and all cells share a data set")
	}
}

func TestQuickAndSetApplyInOrder(t *testing.T) {
	text := spectest.Comparing + "quick:\n  phases: {measure: 5s, rounds: 1}\n  compare: {connections: [4]}\n"
	got := spectest.Parse(t, text, spec.Options{Quick: true, Set: []string{"phases.measure=7s", "cluster.engine=mysql"}})
	if got.Phases.Measure != 7*time.Second || got.Phases.Rounds != 1 || len(got.Cells) != 2 || got.Cluster.Engine != "mysql" {
		t.Errorf("got %+v, %d cells", got.Phases, len(got.Cells))
	}
	general := spectest.Parse(t, spectest.Comparing, spec.Options{Quick: true})
	if general.Phases.Measure != 10*time.Second || general.Phases.Rounds != 3 {
		t.Errorf("without a quick section: %+v", general.Phases)
	}
}

func TestTheResolvedTrialReadsBackTheSame(t *testing.T) {
	for _, text := range []string{spectest.Comparing, spectest.Disturbing, remembering} {
		first := spectest.Parse(t, text, spec.Options{Set: []string{"seed=42"}})
		resolved := string(first.Document.Format())
		again := spectest.Parse(t, resolved, spec.Options{})
		if again.Seed != 42 || len(again.Cells) != len(first.Cells) || again.Phases != first.Phases || string(again.Document.Format()) != resolved {
			t.Errorf("resolved:\n%s", resolved)
		}
	}
}

func TestBadTrialsAreRefusedAtTheirPlace(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown key":       {strings.Replace(spectest.Comparing, "phases:", "phasis:", 1), `trial.yaml:10:1: unknown key "phasis", expected trial, question, cluster, load, compare, prepare, timeline, phases, expect, queries, confidence, seed or quick (did you mean "phases"?)`},
		"unknown engine":    {strings.Replace(spectest.Comparing, "engine: mariadb", "engine: maria", 1), `trial.yaml:3:19: unknown engine "maria", expected mariadb or mysql`},
		"no consistency":    {strings.Replace(spectest.Comparing, "scale: 4", "scale: 4, consistency: ONE", 1), `trial.yaml:4:47: consistency, which paper does not have`},
		"unknown level":     {strings.NewReplacer("scale: 4", "scale: 4, consistency: QUORUM", "mariadb", "mysql").Replace(spectest.Comparing), `trial.yaml:4:47: unknown consistency "QUORUM", expected LOCAL_QUORUM or ONE`},
		"unknown version":   {strings.Replace(spectest.Comparing, "engine: mariadb,", "engine: mariadb, version: 11.5,", 1), `unknown version of mariadb "11.5", expected 11.4 (did you mean "11.4"?)`},
		"unknown workload":  {strings.Replace(spectest.Comparing, "tpcc", "tpc", 1), `trial.yaml:4:18: unknown workload "tpc", expected oltp or tpcc`},
		"unknown parameter": {strings.Replace(spectest.Comparing, "scale: 4", "scael: 4", 1), `trial.yaml:4:24: unknown key "scael", expected scale (did you mean "scale"?)`},
		"key of the load":   {strings.Replace(spectest.Comparing, "scale: 4", "conections: 4", 1), `trial.yaml:4:24: unknown key "conections", expected scale (did you mean "connections"?)`},
		"unknown variant":   {strings.Replace(spectest.Comparing, `throughput["binlog row"]`, `throughput["binlog raw"]`, 1), `trial.yaml:12:5: unknown variant "binlog raw", expected binlog off or binlog row (did you mean "binlog row"?)`},
		"one variant":       {strings.Replace(spectest.Comparing, "    binlog row: {config: {log_bin: on}}\n", "", 1), "trial.yaml:8:5: expected at least two named variants"},
		"no metric":         {strings.Replace(spectest.Comparing, `throughput["binlog row"] > 0.9 * throughput["binlog off"]`, "4 > 3", 1), `names no metric`},
		"no comparison":     {strings.Replace(spectest.Disturbing, "errors == 0", "errors", 1), `trial.yaml:12:5: "errors" compares nothing`},
		"syntax":            {strings.Replace(spectest.Disturbing, "errors == 0", "errors == (", 1), `trial.yaml:12:5: in "errors == (": `},
		"alternative":       {strings.Replace(spectest.Disturbing, "errors == 0", "errors == 0 or late == 0", 1), "cannot contain or"},
		"unknown phase":     {strings.Replace(spectest.Disturbing, `during("lab/freeze")`, `during("lab/freez")`, 1), `unknown phase "lab/freez", expected baseline, lab/freeze or recovery (did you mean "lab/freeze"?)`},
		"unknown change":    {strings.Replace(spectest.Disturbing, "run: lab/freeze", "run: lab/melt", 1), `trial.yaml:6:10: unknown change, runbook or action "lab/melt" (plimsoll runbook list`},
		"unknown input":     {strings.Replace(spectest.Disturbing, "{node: n1}", "{nod: n1}", 1), `trial.yaml:7:12: unknown key "nod", expected node (did you mean "node"?)`},
		"unknown operation": {strings.Replace(spectest.Disturbing, "errors == 0", `throughput.of("new_oder") > 5`, 1), `unknown operation "new_oder", expected new_order or payment (did you mean "new_order"?)`},
		"destination":       {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "rate: 50% of max, to: both, ", 1), `unknown destination "both", expected primary or all`},
		"all, from loaders": {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "rate: 50% of max, to: all, from: [local], ", 1), "own process, without from"},
		"reads from nobody": {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "rate: 50% of max, reads_from: replicas, ", 1), "has no replicas of a primary"},
		"unknown reads":     {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "rate: 50% of max, reads_from: slaves, ", 1), `unknown source of reads "slaves", expected primary or replicas`},
		"reads everywhere":  {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "rate: 50% of max, reads_from: replicas, to: all, ", 1), "without to: all, on or from"},
		"behind, no reads":  {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "rate: 50% of max, max_behind: 2s, ", 1), "max_behind is a time, with reads_from: replicas"},
		"not by node":       {strings.Replace(spectest.Disturbing, "errors == 0", `errors.on("n1") == 0`, 1), "errors is not measured by node"},
		"no node":           {strings.Replace(spectest.Disturbing, "errors == 0", `warmth.on("writer") > 0.5`, 1), "expected primary, replica, or a node such as n2"},
		"a variant's input": {strings.Replace(spectest.Disturbing, "timeline:", "compare: {variant: {a: {}, b: {inputs: {warm: tables}}}}\ntimeline:", 1), `unknown key "warm", expected none`},
		"limit, no rate":    {strings.Replace(spectest.Disturbing, "rate: 50% of max, ", "", 1), "limit without a rate"},
		"bad rate":          {strings.Replace(spectest.Disturbing, "50% of max", "fast", 1), `"fast", expected 500, 500/s, 50% of max or a list of stages`},
		"bad step":          {strings.Replace(spectest.Disturbing, "baseline: 60s", "bseline: 60s", 1), `trial.yaml:5:5: unknown key "bseline", expected run, baseline, wait or recovery (did you mean "baseline"?)`},
		"uses in a step":    {strings.Replace(spectest.Disturbing, "run: lab/freeze", "uses: lab/freeze", 1), `unknown key "uses", expected run, baseline, wait or recovery (did you mean "run"? uses belongs in the steps of a runbook)`},
		"no length":         {strings.Replace(spectest.Disturbing, "baseline: 60s", "baseline: 0s", 1), "a step without a duration"},
		"confidence":        {spectest.Comparing + "confidence: 99\n", "trial.yaml:13:13: confidence 99, expected a number from 0.5 to below 1"},
		"rounds":            {strings.Replace(spectest.Comparing, "rounds: 3", "rounds: -3", 1), "-3 rounds, expected at least 1"},
		"staged, steady":    {strings.Replace(spectest.Disturbing, "50% of max", "[{rate: 5, for: 1s}]", 1), "stages need a warm-up of known length"},
		"no ledger":         {strings.Replace(spectest.Disturbing, "errors == 0", "lost_writes == 0", 1), "trial.yaml:12:5: lost_writes: there is no ledger that could count lost writes"},
		"lost to nothing":   {strings.Replace(remembering, `during("lab/freeze") == 0`, `baseline == 0`, 1), `lost_writes.during("baseline"): only a change can lose writes`},
		"lost operations":   {strings.Replace(remembering, `during("lab/freeze") == 0`, `of("payment") == 0`, 1), "is measured over a whole cell"},
		"two ledgers":       {strings.Replace(remembering, "workload: oltp", "workload: ledger", 1), "trial.yaml:3:37: ledger keeps a ledger already"},
		"ledger from afar":  {strings.Replace(remembering, "workload: oltp,   ledger: {rate: 200, reads: 20}", "workload: ledger, from: [local]", 1), "keeps its ledger in this process"},
		"ledger of max":     {strings.Replace(remembering, "rate: 200", "rate: 50% of max", 1), "trial.yaml:3:41: a ledger is kept at a constant rate"},
		"ledger, no rate":   {strings.Replace(remembering, "rate: 200, ", "", 1), `trial.yaml:3:35: "rate" is missing`},
		"ledger, unknown":   {strings.Replace(remembering, "reads: 20", "raeds: 20", 1), `trial.yaml:3:46: unknown key "raeds", expected reads (did you mean "reads"?)`},
		"no connections":    {strings.Replace(spectest.Comparing, "[4, 8]", "[0, 8]", 1), `trial.yaml:6:17: "0", expected more than 0; leave connections out for its default`},
		"no rounds":         {strings.Replace(spectest.Comparing, "rounds: 3", "rounds: 0", 1), `trial.yaml:10:48: "0", expected more than 0`},
		"no time":           {strings.Replace(spectest.Comparing, "measure: 60s", "measure: 0s", 1), `"0s", expected more than 0; leave measure out for its default`},
		"no nodes":          {strings.Replace(spectest.Disturbing, "nodes: 2", "nodes: 0", 1), `"0", expected more than 0; leave nodes out for its default`},
		"no sure answer":    {spectest.Comparing + "confidence: .nan\n", `".nan", expected a number`},
		"no steps":          {spectest.Comparing + "timeline: []\n", "trial.yaml:13:11: no steps, expected some"},
		"name":              {strings.Replace(spectest.Comparing, "trial: binlog-cost", "trial: ../binlog-cost", 1), `trial.yaml:1:8: "../binlog-cost", expected a short name`},
		"wrong type":        {strings.Replace(spectest.Comparing, "measure: 60s", "measure: [60s]", 1), "a list, expected a duration"},
		"mapping, number":   {strings.Replace(spectest.Disturbing, "nodes: 2", "nodes: {n: 2}", 1), "a mapping, expected a whole number"},
		"rate in a stage":   {strings.Replace(spectest.Disturbing, "50% of max", "[{rate: NaN, for: 1s}]", 1), `"NaN", expected a number of operations per second`},
		"replica, no log":   {strings.Replace(spectest.Comparing, "log_bin: off}", "log_bin: off}, nodes: 2", 1), "trial.yaml:8:36: replicas need a log (leave log_bin out)"},
		"a level's setting": {strings.NewReplacer("{innodb_buffer_pool_size: 512M}", "{a_size: 1G}", "connections: [4, 8]", "config.cache: [64M, 64 MB]").Replace(spectest.Comparing), `trial.yaml:6:23: cache is "64 MB", expected a size`},
		"a variant's size":  {strings.NewReplacer("{innodb_buffer_pool_size: 512M}", "{a_size: 1G}", "log_bin: on", "cache: 64 MB").Replace(spectest.Comparing), `trial.yaml:9:34: cache is "64 MB", expected a size`},
		"grown by a change": {"trial: t\ncluster: {engine: mariadb, config: {a_size: 1G, log_bin: off}}\nload: {workload: oltp}\nprepare: lab/add\n", "trial.yaml:2:58: replicas need a log (leave log_bin out)"},
		"no one setting":    {strings.NewReplacer("{innodb_buffer_pool_size: 512M}", "{a_size: 1G, cache: 64 MB}", "connections: [4, 8]", "config.log_bin: [off, on]").Replace(strings.Replace(spectest.Comparing, "engine: mariadb,", "engine: mariadb, nodes: 2,", 1)), "trial.yaml:3:47: replicas need a log"},
		"quick, unknown":    {spectest.Comparing + "quick: {phases: {ronds: 1}}\n", `trial.yaml:13:18: unknown key "ronds", expected warmup, warmup_limit, measure, rounds or restore (did you mean "rounds"?)`},
		"quick, no mapping": {spectest.Comparing + "quick: 5\n", `trial.yaml:13:8: "5", expected a mapping`},
		"quik":              {spectest.Comparing + "quik: {}\n", `did you mean "quick"?`},
		"twice":             {strings.Replace(spectest.Comparing, "[4, 8]", "[4, 4]", 1), `level "4" of "connections" is listed twice`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.text == spectest.Comparing || c.text == spectest.Disturbing {
				t.Fatal("the test changes nothing")
			}
			_, err := spec.Parse("trial.yaml", []byte(c.text), spec.Options{}, spectest.Parts())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// What every cell refuses is said once, and where it is written: in the cluster, if no variant is needed for it.
func TestARefusalIsSaidOnceAtItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(spectest.Comparing, "512M", "512M, cache: 64 MB", 1):               `trial.yaml:3:75: cache is "64 MB", expected a size`,
		strings.Replace(spectest.Comparing, "log_bin: on", "log_bin: on, cache: 64 MB", 1): `trial.yaml:9:47: cache is "64 MB", expected a size`,
		strings.Replace(spectest.Disturbing, "{node: n1}", "{nod: n1}", 1):                 `trial.yaml:7:12: unknown key "nod", expected node (did you mean "node"?)`,
	} {
		if _, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, spectest.Parts()); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(spectest.Comparing)
	f.Add(spectest.Disturbing)
	f.Add(remembering)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, spectest.Parts())
		if (got == nil) == (err == nil) {
			t.Fatalf("got %v and %v", got, err)
		}
	})
}

// A load whose workload is misspelt is told so, beside that it has none.
func TestAMisspeltWorkloadIsNamed(t *testing.T) {
	text := strings.Replace(spectest.Comparing, "workload:", "worklod:", 1)
	_, err := spec.Parse("trial.yaml", []byte(text), spec.Options{}, spectest.Parts())
	for _, want := range []string{`"workload" is missing`, `unknown key "worklod"`, `did you mean "workload"?`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
