// Package spec reads the file of a trial, a question that is asked of a real database: its cluster, its load, what is compared or done
// meanwhile, and what is expected. It refuses, with the place, whatever can be known to be wrong before anything is started.
package spec

import (
	"time"

	"plimsoll/infra/disk/pace"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/trial/expect"
	"plimsoll/watch/collect"
)

// Spec is a trial as a person writes it, defaults filled in.
type Spec struct {
	Name       string               `yaml:"trial,required" doc:"A short name, also of the result folder."`
	Question   string               `yaml:"question" doc:"What you want to know, in one sentence; the report's heading."`
	Cluster    Cluster              `yaml:"cluster,required" doc:"The lab cluster that is created for the trial, or an existing cluster."`
	Load       Load                 `yaml:"load,required" doc:"The workload and how it is issued. Keys not listed here are parameters of the workload, see workloads.md."`
	Compare    Compare              `yaml:"compare" doc:"Factors, each a list of levels, and variants. Every combination is a cell. A factor is connections, rate, a parameter of the workload, or config.NAME for a setting of the server."`
	Prepare    Prepare              `yaml:"prepare" doc:"What runs on every cell's cluster before its load begins: a change, a runbook or a list of them, such as {run: superdisk/migrate, with: {…}}."`
	Timeline   []Step               `yaml:"timeline" doc:"What happens while the load runs, one step after another. Default: one phase named measure."`
	Phases     Phases               `yaml:"phases" doc:"How long to warm up and to measure, and how often."`
	Expect     []expect.Expectation `yaml:"expect" doc:"Your expectations; each is judged PASS, FAIL or INCONCLUSIVE. Without any, the trial only measures."`
	Queries    []collect.Query      `yaml:"queries" doc:"SQL of your own that runs on every node during the trial. Its rows become the series sql_NAME_VALUE, which expectations and guardrails can name like any watched series. The queries for this cluster in the watch.yaml of the working folder run too; if two have the same name, the one in this file is used."`
	Confidence float64              `yaml:"confidence,nonzero" doc:"Confidence of the intervals and verdicts, between 0.5 and 1; 0.99 means that an expectation exactly at its limit is judged wrongly at most once in a hundred trials. Default 0.99."`
	Seed       uint64               `yaml:"seed,nonzero" doc:"Seed of every random choice. Default: drawn, and recorded in the result."`

	Quick    *document.Node `yaml:"quick" doc:"Values that --quick uses instead: any of the keys above."`
	Document *document.Node `yaml:"-"` // as resolved: quick, --set and defaults applied
}

// Cluster says what to run.
type Cluster struct {
	Engine  string            `yaml:"engine" doc:"mariadb, mysql or cassandra: a lab cluster is created for the trial."`
	Version string            `yaml:"version" doc:"Such as 11.4, 10.11 or 9.7. Default: the one on PATH, else the newest that can be fetched."`
	Nodes   int               `yaml:"nodes,nonzero" doc:"Number of nodes: 1 is a single server; more are a primary and its replicas. Default 1."`
	Config  map[string]string `yaml:"config" doc:"Settings of the server, by their names in the server."`

	Topology  Topology `yaml:"topology" doc:"separate: independent, writable servers, for example to build external or multi-source replicas. Default: one data set on all nodes."`
	Schema    string   `yaml:"schema" doc:"A file beside the trial with statements that create your tables (or a dump of them). They are executed on the primary before the workload's data is loaded. A statement ends with ; at the end of a line."`
	Forgetful bool     `yaml:"forgetful" doc:"Nodes keep unsynced writes separate, so that a power failure can lose them. It costs time at every write. A timeline with lab/power-fail implies it."`

	Disk *pace.DiskText `yaml:"disk" doc:"Every node keeps its data on a disk with the limits, the burst bucket and the latency of a cloud's volume: {type: gp2, size: 800G, balance: 5 %, scale: 1/10}. It needs FUSE. Reads from the kernel's page cache are not slowed down; InnoDB's are, because it bypasses that cache."`

	Machines *Machines `yaml:"machines" doc:"Every node, or the named ones, gets a machine with its own kernel and volumes, as an ordinary user and without hardware virtualisation, for changes to volumes and machines. {} uses the defaults."`

	Target      string            `yaml:"target" doc:"Instead of all other keys: an existing cluster, by its name in plimsoll.yaml or as mysql://user@host:3306/database, cql://… or http://…. It is put under load and measured, with data that was prepared before; nothing is restarted, restored or configured except by runbooks of the timeline, on a target of plimsoll.yaml that is not in production. In production, trial run asks first."`
	Environment string            `yaml:"environment" doc:"Environment of a target given by its address: lab, staging or production. Default lab for a loopback address."`
	Password    *inventory.Secret `yaml:"password" doc:"Where to find the password of a target given by its address: {env: NAME}, {file: PATH} or {command: [PROGRAM, ARGUMENT]}."`
}

// Phases says how a cell is measured.
type Phases struct {
	Warmup      Warmup        `yaml:"warmup" doc:"steady (until throughput and log p99 are flat and the engine is quiet), or a duration. Default steady."`
	WarmupLimit time.Duration `yaml:"warmup_limit,nonzero" doc:"Limit of a steady warm-up; the result says so when it was reached. Default 5m."`
	Measure     time.Duration `yaml:"measure,nonzero" doc:"How long each cell is measured in each round. Default 60s."`
	Rounds      int           `yaml:"rounds,nonzero" doc:"How often each cell is measured, interleaved with the others. Default 3; 1 for a timeline on a target. A single round does not show how much rounds differ, so it decides a verdict only with an explicit rounds: 1. The exception is a number that is known exactly and breaks its expectation, such as one lost write: that is FAIL at once, and the verdict says first that one round decided."`
	Restore     Restore       `yaml:"restore" doc:"each: every cell starts from the same copy of the data, after a restart. never: the cells run one after another on one data set; settings are changed without a restart where the server can. Default each."`
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
		return n.Errorf("a warm-up without a duration, expected steady or a duration such as 30s")
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
