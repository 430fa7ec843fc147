// Package spec reads the file of a trial, a question that is asked of a real database: its cluster, its load, what is compared or done
// meanwhile, and what is expected. It refuses, with the place, whatever can be known to be wrong before anything is started.
package spec

import (
	"time"

	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/trial/expect"
	"plimsoll/watch/collect"
)

// Spec is a trial as a person writes it, defaults filled in.
type Spec struct {
	Name       string               `yaml:"trial,required" doc:"A short name; it names the result folder too."`
	Question   string               `yaml:"question" doc:"What you want to know, in a sentence. It heads the report."`
	Cluster    Cluster              `yaml:"cluster,required" doc:"The lab cluster that is made for the trial, or one that is there already."`
	Load       Load                 `yaml:"load,required" doc:"The workload and how it is issued. Keys not listed here are parameters of the workload, see workloads.md."`
	Compare    Compare              `yaml:"compare" doc:"Factors, each a list of levels, and variants. Every combination is a cell. A factor is connections, rate, a parameter of the workload, or config.NAME for a setting of the server."`
	Prepare    Prepare              `yaml:"prepare" doc:"What is done to every cell's cluster before its load begins: a change, a runbook or a list of them, such as {run: superdisk/migrate, with: {…}}."`
	Timeline   []Step               `yaml:"timeline" doc:"What happens while the load runs, one step after another. Without it, one phase named measure."`
	Phases     Phases               `yaml:"phases" doc:"How long, how often, and when to begin."`
	Expect     []expect.Expectation `yaml:"expect" doc:"What you expect; each is judged PASS, FAIL or INCONCLUSIVE. Without any, the trial only measures."`
	Queries    []collect.Query      `yaml:"queries" doc:"Own SQL, asked of every node while the trial runs: its rows become the series sql_NAME_VALUE, which expectations and guardrails name as they name any watched series. The queries of the watch.yaml in the working folder that are meant for this cluster are asked too; of two that have one name this file's counts."`
	Confidence float64              `yaml:"confidence,nonzero" doc:"Of the intervals and verdicts, between 0.5 and 1; 0.99 means that a claim on the margin is judged wrongly at most once in a hundred trials. Default 0.99."`
	Seed       uint64               `yaml:"seed,nonzero" doc:"Of every random choice. Default: drawn, and recorded in the result."`

	Quick    *document.Node `yaml:"quick" doc:"What --quick puts over the others: any of the keys above."`
	Document *document.Node `yaml:"-"` // as resolved: quick, --set and defaults applied
}

// Cluster says what to run.
type Cluster struct {
	Engine  string            `yaml:"engine" doc:"mariadb, mysql or cassandra: a lab cluster is made for the trial."`
	Version string            `yaml:"version" doc:"Such as 11.4, 10.11 or 9.7. Default: the one on PATH, else the newest that can be fetched."`
	Nodes   int               `yaml:"nodes,nonzero" doc:"1 is a single server; more are a primary and its replicas. Default 1."`
	Config  map[string]string `yaml:"config" doc:"Settings of the server, by its own names."`

	Topology  Topology `yaml:"topology" doc:"separate: servers that have nothing to do with one another, each writable, from which external replicas and replicas of several sources are built. Default: one data set on all nodes."`
	Schema    string   `yaml:"schema" doc:"A file with statements that make tables of yours (or a dump of them), beside the trial. They are executed on the primary before the workload's data is loaded. A statement ends with ; at the end of a line."`
	Forgetful bool     `yaml:"forgetful" doc:"Nodes keep apart what was not synced, so that a power failure can take it. It costs time at every write. A timeline with lab/power-fail implies it."`

	Disk *Disk `yaml:"disk" doc:"Every node keeps its data on a disk with the limits, the burst bucket and the latency of a cloud's volume: {type: gp2, size: 800G, balance: 5 %, scale: 1/10}. It needs FUSE. What the kernel caches does not feel it; InnoDB's pages do."`

	Machines *Machines `yaml:"machines" doc:"Every node, or those that are named, has a machine with a kernel and volumes of its own, as an ordinary user and without hardware virtualisation: for what is done to volumes and machines. {} takes the defaults."`

	Target      string            `yaml:"target" doc:"In place of all the others: a cluster that is there already, by its name in plimsoll.yaml or as mysql://user@host:3306/database, cql://… or http://…. It is put under load and measured, with data that was prepared before; nothing is restarted, restored or configured, but by runbooks of the timeline, on a target of plimsoll.yaml that is not in production. In production, trial run asks."`
	Environment string            `yaml:"environment" doc:"Of a target that is an address: lab, staging or production. Default lab for a loopback address."`
	Password    *inventory.Secret `yaml:"password" doc:"Where the password of a target that is an address is found: {env: NAME}, {file: PATH} or {command: [PROGRAM, ARGUMENT]}."`
}

// Phases says how a cell is measured.
type Phases struct {
	Warmup      Warmup        `yaml:"warmup" doc:"steady (until throughput and log p99 are flat and the engine is quiet), or a duration. Default steady."`
	WarmupLimit time.Duration `yaml:"warmup_limit,nonzero" doc:"When warming up until steady gives up; the result then says so. Default 5m."`
	Measure     time.Duration `yaml:"measure,nonzero" doc:"How long each cell is measured in each round. Default 60s."`
	Rounds      int           `yaml:"rounds,nonzero" doc:"How often each cell is measured, interleaved with the others. Default 3; 1 where a timeline is run on a target. A single round shows nothing of how rounds differ: only rounds: 1, written out, lets one decide."`
	Restore     Restore       `yaml:"restore" doc:"each: every cell starts from the same copy of the data, after a restart. never: cells follow one another on one data set; settings are changed without a restart where the server can. Default each."`
}

// Warmup is how long the load runs before it is measured; 0 is until steady.
type Warmup time.Duration

// UnmarshalDocument reads steady or a duration.
func (w *Warmup) UnmarshalDocument(n *document.Node) error {
	if n.Kind == document.Scalar && n.Text == "steady" {
		*w = 0
		return nil
	}
	d, err := document.Duration(n)
	if err != nil {
		return n.Errorf("%s, expected steady or a duration such as 30s", n.Said())
	}
	if d == 0 {
		return n.Errorf("a warm-up of no length, expected steady or a duration such as 30s")
	}
	*w = Warmup(d)
	return nil
}

// Restore says when the data set is put back.
type Restore string

// The rules for putting the data set back.
const (
	RestoreEach  Restore = "each"
	RestoreNever Restore = "never"
)

// UnmarshalDocument reads a rule.
func (r *Restore) UnmarshalDocument(n *document.Node) error {
	*r = Restore(n.Text)
	if *r != RestoreEach && *r != RestoreNever {
		return document.UnknownName(n, "rule", []string{string(RestoreEach), string(RestoreNever)})
	}
	return nil
}
