package watch

import (
	"cmp"
	"time"
)

// Fleet is the picture of all instances at a time.
type Fleet struct {
	At        time.Time  `json:"at"`
	Instances []Instance `json:"instances"` // worst first
	Alerts    []Alert    `json:"alerts"`    // that fire now, of all instances
}

// State says whether an instance can be read.
type State string

// The states.
const (
	Unread State = "unread" // it was not reached yet
	Up     State = "up"
	Down   State = "down" // it was asked and did not answer
	// Refused is not down: it answers, and denies the watch's account.
	Refused State = "refused"
	// Paused and Reduced tell of the watch, not of the instance, which may serve its clients well: it is not asked for a while, since it was slow
	// to answer the watch; it is looked at only now and then, since many threads are running.
	Paused  State = "paused"
	Reduced State = "reduced"
)

// Instance is one server as it was last seen. What is not known is left out: a null, never a 0.
type Instance struct {
	Name        string `json:"name"` // cluster/node, the label instance of its series
	Cluster     string `json:"cluster"`
	Node        string `json:"node"`
	Address     string `json:"address"`
	Environment string `json:"environment,omitempty"` // lab, staging, production
	Engine      string `json:"engine"`                // mysql, cql, singlestore
	Product     string `json:"product,omitempty"`     // MariaDB, Aurora MySQL, Cassandra
	Version     string `json:"version,omitempty"`
	Role        string `json:"role,omitempty"` // primary, replica

	State  State     `json:"state"`
	Why    string    `json:"why,omitempty"` // it is down or refused, or polling is paused or reduced
	Read   time.Time `json:"read,omitzero"` // when it last answered
	Age    float64   `json:"age_seconds"`   // of what is shown
	Uptime *float64  `json:"uptime_seconds,omitempty"`
	Cores  int       `json:"cores,omitempty"` // 0: not known

	Load        *Load       `json:"load,omitempty"`
	Throughput  *float64    `json:"statements_per_second,omitempty"`
	Commits     *float64    `json:"commits_per_second,omitempty"`
	P99         *float64    `json:"p99_seconds,omitempty"` // of statements, as the server counts them
	Connections *float64    `json:"connections,omitempty"`
	MostConns   *float64    `json:"max_connections,omitempty"`
	Running     *float64    `json:"threads_running,omitempty"`
	Commit      *Commit     `json:"commit,omitempty"`
	Channels    []Channel   `json:"channels,omitempty"` // it follows, with the lag of each
	IO          *IO         `json:"io,omitempty"`
	Disk        *Disk       `json:"disk,omitempty"`
	Memory      *Memory     `json:"memory,omitempty"`
	Statements  []Statement `json:"statements,omitempty"` // that cause the most load, first
	Callers     []Caller    `json:"callers,omitempty"`    // by load, in the last minute
	Sessions    []Session   `json:"sessions,omitempty"`   // that others wait for, or that run for long
	Findings    []Finding   `json:"findings,omitempty"`
	Alerts      []Alert     `json:"alerts,omitempty"`
	Watching    Watching    `json:"watching"`
}

// Old tells whether what is shown of the instance was not read just now, since it is not polled: Age says how old it is.
func (i Instance) Old() bool { return i.State == Paused }

// Load is the average number of sessions that do something, by what they wait for.
type Load struct {
	AAS    float64 `json:"aas"`
	Source string  `json:"source"` // counters: exact; samples: one look a second
	Waits  []Wait  `json:"waits"`  // the largest first; they sum to AAS
}

// Wait is the share of a load that waits for one thing.
type Wait struct {
	Class string  `json:"class"` // one of Classes
	AAS   float64 `json:"aas"`
}

// Classes of wait, in the order in which charts stack them.
var Classes = []string{"cpu", "read", "write", "redo", "binlog", "semi-sync", "commit", "row lock", "table lock", "latch", "network", "other"}

// Commit is where the time of a commit goes, in seconds for each commit. What cannot be told apart is left out.
type Commit struct {
	Total     *float64 `json:"total_seconds,omitempty"`
	Redo      *float64 `json:"redo_seconds,omitempty"`
	Binlog    *float64 `json:"binlog_seconds,omitempty"`
	SemiSync  *float64 `json:"semi_sync_seconds,omitempty"`
	Queue     *float64 `json:"queue_seconds,omitempty"`
	GroupSize *float64 `json:"group_size,omitempty"` // commits for each write of the binary log
	Untold    []string `json:"not_separable,omitempty"`
	// Counted are the sums that the means are made of. A mean over several readings is their sum, never the mean of their means.
	Counted CommitTimes `json:"-"`
}

// CommitTimes are what a server has counted of its commits since the reading before. One that it does not count is zero.
type CommitTimes struct{ Total, Redo, Binlog, SemiSync, Group Counted }

// Counted is a sum, and how many it is of: seconds and commits, or commits and the groups that they were written in.
type Counted struct{ Sum, Of float64 }

// Mean is what one of them comes to; nil where there were none.
func (c Counted) Mean() *float64 {
	if c.Of == 0 {
		return nil
	}
	mean := c.Sum / c.Of
	return &mean
}

// Channel is one stream of replication that an instance follows.
type Channel struct {
	Name    string   `json:"name,omitempty"`
	Source  string   `json:"source"`                // host:port
	Lag     *float64 `json:"lag_seconds,omitempty"` // not known while it connects
	Stopped bool     `json:"stopped,omitempty"`
	// Connecting is set while it is to run and has no connection to its source, which is down, out of reach, or refuses its account.
	Connecting bool   `json:"connecting,omitempty"`
	Error      string `json:"error,omitempty"`
}

// IO is the load that an instance puts on its storage, beside what the storage can give.
type IO struct {
	IOPS        *float64 `json:"iops,omitempty"`
	Reads       *float64 `json:"reads_per_second,omitempty"`
	Writes      *float64 `json:"writes_per_second,omitempty"`
	Bytes       *float64 `json:"bytes_per_second,omitempty"`
	Source      string   `json:"source,omitempty"` // innodb, device, cloud
	Limit       *float64 `json:"iops_limit,omitempty"`
	LimitBy     string   `json:"limit_by,omitempty"` // volume, burst, instance
	Censored    bool     `json:"censored,omitempty"` // IOPS are pinned at the limit: what is asked for may be more
	Bucket      *float64 `json:"bucket_share,omitempty"`
	HoursToDry  *float64 `json:"hours_until_empty,omitempty"`        // at the rate of the last minutes, as many as were alike; left out when it does not empty
	HoursMargin float64  `json:"hours_until_empty_margin,omitempty"` // half of the width of its 95 % interval, as a share of it
	HoursP10    *float64 `json:"hours_until_empty_p10,omitempty"`
	HoursP50    *float64 `json:"hours_until_empty_p50,omitempty"`
	HoursP90    *float64 `json:"hours_until_empty_p90,omitempty"`
	BucketBasis string   `json:"bucket_basis,omitempty"` // integrated: from what was seen since the watch began; cloud: as AWS shows it
}

// Rough says that when the bucket is empty is not known to 5 % of the time that is left: too few minutes were seen, or they differ too much.
func (io IO) Rough() bool { return io.HoursToDry != nil && io.HoursMargin > 0.05 }

// Disk is the room where an instance keeps its data, in bytes.
type Disk struct {
	Data  *float64 `json:"data_bytes,omitempty"` // tables and indexes
	Free  *float64 `json:"free_bytes,omitempty"`
	Total *float64 `json:"total_bytes,omitempty"`
}

// Used is the share of the disk that is taken; known tells whether the instance shows it.
func (d Disk) Used() (share float64, known bool) {
	if d.Free == nil || d.Total == nil || *d.Total <= 0 {
		return 0, false
	}
	return 1 - *d.Free / *d.Total, true
}

// Memory is how the buffer pool serves.
type Memory struct {
	Pool      *float64 `json:"pool_bytes,omitempty"`
	MissShare *float64 `json:"miss_share,omitempty"` // of pages asked for, read from disk
	Misses    *float64 `json:"misses_per_second,omitempty"`
}

// Statement is a normalized statement and the load it causes.
type Statement struct {
	Digest   string   `json:"digest"`
	Text     string   `json:"text"`
	Database string   `json:"database,omitempty"`
	AAS      float64  `json:"aas"`
	Source   string   `json:"source"` // counters, samples
	Calls    *float64 `json:"calls_per_second,omitempty"`
	Average  *float64 `json:"average_seconds,omitempty"`
	P99      *float64 `json:"p99_seconds,omitempty"`
	RowsRead *float64 `json:"rows_examined_per_call,omitempty"`
	Errors   *float64 `json:"errors_per_second,omitempty"`
}

// Caller is who causes load: an account, from a host.
type Caller struct {
	User string  `json:"user"`
	Host string  `json:"host,omitempty"`
	AAS  float64 `json:"aas"`
}

// String is user@host, or the user alone.
func (c Caller) String() string {
	if c.Host == "" {
		return c.User
	}
	return c.User + "@" + c.Host
}

// Compare puts the larger load first.
func (c Caller) Compare(other Caller) int {
	return cmp.Or(cmp.Compare(other.AAS, c.AAS), cmp.Compare(c.User, other.User), cmp.Compare(c.Host, other.Host))
}

// Session is one connection that a person may want to know of.
type Session struct {
	ID      string  `json:"id"`
	User    string  `json:"user"`
	Host    string  `json:"host,omitempty"`
	Seconds float64 `json:"seconds"` // that its transaction, or its statement, has lasted
	Does    string  `json:"does"`    // transaction, waits for a row lock, waits for a metadata lock, blocks 3 others
	Text    string  `json:"text,omitempty"`
}

// Finding is something about an instance that a person should know and that no rule is needed for.
type Finding struct {
	Code string `json:"code"` // stable: performance-schema-off, no-privilege
	Text string `json:"text"`
	Do   string `json:"do,omitempty"`
}

// Alert is a rule whose condition holds for an instance, or for the fleet.
type Alert struct {
	Rule     string            `json:"rule"`
	Instance string            `json:"instance,omitempty"`
	Severity string            `json:"severity"` // info, warning, critical
	State    string            `json:"state"`    // pending, firing, resolved
	Silenced bool              `json:"silenced,omitempty"`
	Summary  string            `json:"summary"`
	Why      string            `json:"why,omitempty"`
	Do       string            `json:"do,omitempty"`
	Runbook  string            `json:"runbook,omitempty"` // name of a runbook or trial that does it
	Inputs   string            `json:"inputs,omitempty"`  // of the runbook, NAME=VALUE with spaces between them; FILL_IN is what only a person knows
	Expr     string            `json:"expr"`
	Value    float64           `json:"value"`
	Since    time.Time         `json:"since"`
	Fired    time.Time         `json:"fired,omitzero"`
	Resolved time.Time         `json:"resolved,omitzero"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// Watching is what being watched costs an instance.
type Watching struct {
	Connections int      `json:"connections"`
	Queries     float64  `json:"queries_per_second"`
	P95         float64  `json:"p95_seconds"`     // of our own queries
	Lacks       []string `json:"lacks,omitempty"` // what the instance does not show, asked once
}
