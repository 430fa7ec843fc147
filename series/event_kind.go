package series

import (
	"slices"
	"strings"
)

// EventKind is what an event tells of. EventKinds lists all that are written.
type EventKind string

// The kinds of event.
const (
	PhaseStart EventKind = "phase.start"

	ChangeStart EventKind = "change.start"
	ChangeEnd   EventKind = "change.end"

	StepStart EventKind = "step.start"
	StepEnd   EventKind = "step.end"
	StepRetry EventKind = "step.retry"

	RunAsked    EventKind = "run.asked"
	RunApproved EventKind = "run.approved"
	RunHeld     EventKind = "run.held"
	RunFreed    EventKind = "run.freed"
	RunRefused  EventKind = "run.refused"

	RehearsalKept EventKind = "rehearsal"

	NodeRestart     EventKind = "node.restart"
	NodeKill        EventKind = "node.kill"
	NodePowerFail   EventKind = "node.power-fail"
	NodeForgot      EventKind = "node.forgot"
	NodeStop        EventKind = "node.stop"
	NodeStart       EventKind = "node.start"
	NodeFreeze      EventKind = "node.freeze"
	NodeThaw        EventKind = "node.thaw"
	NodeReconfigure EventKind = "node.reconfigure"
	NodeServes      EventKind = "node.serves"
	NodeDied        EventKind = "node.died"
	ReplicaAttached EventKind = "replica.attached"

	ClusterRestore EventKind = "cluster.restore"
	ClusterServes  EventKind = "cluster.serves"
	RingPromoted   EventKind = "ring.promoted"
	DiskChange     EventKind = "disk.change"
	FaultBegan     EventKind = "fault.began"
	FaultOver      EventKind = "fault.over"

	LoadErrors      EventKind = "load.errors"
	LoadLost        EventKind = "load.lost"
	LoadReconnected EventKind = "load.reconnected"
	LoadBroken      EventKind = "load.broken"
	LoadMaximum     EventKind = "load.maximum"
	LoadAvoids      EventKind = "load.avoids"
	LoadReturns     EventKind = "load.returns"
	ReadsSpread     EventKind = "reads.spread"
	CacheStarted    EventKind = "cache.started"

	WarmupSteady  EventKind = "warmup.steady"
	WarmupTimeout EventKind = "warmup.timeout"
	NoiseChecked  EventKind = "noise.checked"
	TrialForeseen EventKind = "trial.foreseen"

	StreamStart EventKind = "stream.start"
	StreamEnd   EventKind = "stream.end"

	DataLoaded    EventKind = "data.loaded"
	DataChecked   EventKind = "data.checked"
	LedgerAudited EventKind = "ledger.audited"
	LedgerUnread  EventKind = "ledger.unread"
	ProbeFailed   EventKind = "probe.failed"

	FleetChange EventKind = "change"
)

// EventGroup is what kinds of event have in common for who reads them.
type EventGroup string

// The groups.
const (
	OfPhases  EventGroup = "phases"  // the beginning of one
	OfChanges EventGroup = "changes" // the beginning and end of what a timeline or a prepare runs
	OfSteps   EventGroup = "steps"   // of a runbook
	OfRuns    EventGroup = "runs"    // of a runbook, and its rehearsal
	OfServers EventGroup = "servers" // what happened to one: it can be why operations failed or waited
	OfCluster EventGroup = "cluster" // what happened to all of it, to disks and volumes
	OfLoad    EventGroup = "load"
	OfTrial   EventGroup = "trial" // its own doings
	OfFleet   EventGroup = "fleet" // seen by a watch
)

// KnownEvent is one kind as events.jsonl has it.
type KnownEvent struct {
	Kind   EventKind
	Group  EventGroup
	Words  string // what a report says of it; of a server it begins with "server ", for which the node's name can stand
	Means  string
	Name   string   // what the event's name is; "": it has none
	Detail []string // the keys of its detail; a * stands for any
}

// EventKinds lists every kind that is written into events.jsonl, which writers, readers and documentation go by.
func EventKinds() []KnownEvent { return slices.Clone(eventKinds) }

var eventKinds = []KnownEvent{
	{PhaseStart, OfPhases, "phase begins", "A phase begins; the one before it ends.", "the phase", nil},
	{ChangeStart, OfChanges, "change begins", "A change or a runbook of the timeline, or of prepare, begins.", "what is run", nil},
	{ChangeEnd, OfChanges, "change ended", "The change or runbook has ended.", "what was run", []string{"seconds", "error"}},
	{StepStart, OfSteps, "step begins", "A step of a runbook begins.", "the step", []string{"run"}},
	{StepEnd, OfSteps, "step ended", "The step has ended.", "the step", []string{"run", "seconds", "error", "troubles"}},
	{StepRetry, OfSteps, "step failed and will be tried again", "The step failed and will be tried again.", "the step", []string{"run", "error"}},
	{RunAsked, OfRuns, "run waits for a person", "A run waits for a person.", "the step", []string{"run", "note"}},
	{RunApproved, OfRuns, "step approved", "A person, or the trial in place of a person, approved.", "the step", []string{"run", "by"}},
	{RunHeld, OfRuns, "guardrail pauses the run", "A guardrail is breached and pauses the run.", "the step", []string{"run", "guardrail"}},
	{RunFreed, OfRuns, "guardrail no longer pauses the run", "The guardrail is no longer breached, and the run continues.", "the step", []string{"run"}},
	{RunRefused, OfRuns, "run refused, as expected", "A run was refused, as the trial expected.", "the runbook", []string{"why"}},
	{RehearsalKept, OfRuns, "rehearsal stored", "The outcome of a rehearsal was stored in the state folder.", "the runbook", []string{"run", "passed", "nothing", "inputs"}},
	{NodeRestart, OfServers, "server begins to restart", "A server is stopped and started.", "the change", nil},
	{NodeKill, OfServers, "server was killed", "A server's process is killed.", "the change", nil},
	{NodePowerFail, OfServers, "server lost power", "A server loses power: its unsynced writes are lost.", "the change", nil},
	{NodeForgot, OfServers, "server lost unsynced writes", "Which unsynced writes the server lost.", "the change", []string{"files", "bytes", "names"}},
	{NodeStop, OfServers, "server was stopped", "A server is stopped.", "the change", nil},
	{NodeStart, OfServers, "server was started", "A server is started.", "the change", nil},
	{NodeFreeze, OfServers, "server was frozen", "A server is frozen: it does not answer, and its connections stay open.", "the change", nil},
	{NodeThaw, OfServers, "server was thawed", "The server is thawed.", "the change", nil},
	{NodeReconfigure, OfServers, "server was reconfigured", "A server gets other settings.", "the change", nil},
	{NodeServes, OfServers, "server answered again", "A server answers again.", "the change", nil},
	{NodeDied, OfServers, "server ended unexpectedly", "A server ended unexpectedly.", "", []string{"cause", "log"}},
	{ReplicaAttached, OfServers, "server was attached as a replica", "A replica was attached to the primary.", "the change", nil},
	{ClusterRestore, OfCluster, "data is restored", "The data is restored.", "the change", nil},
	{ClusterServes, OfCluster, "cluster answers with the restored data", "The cluster answers with the restored data.", "the change", nil},
	{RingPromoted, OfCluster, "new node answers reads", "A node that joined a ring now answers reads.", "", nil},
	{DiskChange, OfCluster, "disk got other limits", "A node's disk gets other limits.", "the change", []string{"disk"}},
	{FaultBegan, OfCluster, "fault begins", "A fault of a volume or a machine begins.", "the action", nil},
	{FaultOver, OfCluster, "fault is over", "The fault is undone.", "the action", nil},
	{LoadErrors, OfLoad, "operations failed", "Operations failed in this second, by class of error.", "", []string{"*"}},
	{LoadLost, OfLoad, "connections of the load were lost", "Connections of the load were lost.", "", []string{"connections"}},
	{LoadReconnected, OfLoad, "connections of the load are open again", "All connections of the load are open again.", "", []string{"connections"}},
	{LoadBroken, OfLoad, "load generator failed", "The load generator failed, which makes the trial INVALID.", "", []string{"reason"}},
	{LoadMaximum, OfLoad, "maximum rate found", "The maximum rate was found.", "the workload", []string{"per_second", "connections"}},
	{LoadAvoids, OfLoad, "load avoids a server that hangs", "A server hangs, and its statements go to other servers.", "", []string{"address"}},
	{LoadReturns, OfLoad, "load returns to the server", "Statements go to that server again.", "", []string{"address"}},
	{ReadsSpread, OfLoad, "nodes that answer reads", "Which nodes answer reads from now on, and why others do not.", "", []string{"*"}},
	{CacheStarted, OfLoad, "read cache started", "An empty read cache was started beside the servers.", "", []string{"version", "bytes"}},
	{WarmupSteady, OfTrial, "load is steady", "The load is steady and the engine has no backlog.", "", []string{"seconds"}},
	{WarmupTimeout, OfTrial, "load was not steady in time and is measured anyway", "The load was not steady within warmup_limit, and is measured anyway.", "", []string{"why"}},
	{NoiseChecked, OfTrial, "smallest difference that could be shown", "The smallest difference that the trial could show, in percent, estimated from the noise of its load.", "", []string{"seconds", "throughput_percent", "p99_percent"}},
	{TrialForeseen, OfTrial, "problem found before the load", "A problem that was found before the load and may make the trial fail.", "what it concerns", []string{"why", "do"}},
	{StreamStart, OfCluster, "stream begins", "Nodes begin to stream data to one another.", "the purpose", []string{"*"}},
	{StreamEnd, OfCluster, "stream ended", "The stream has ended.", "the purpose", []string{"*"}},
	{DataLoaded, OfTrial, "data loaded", "The data set is loaded.", "the workload", []string{"seconds"}},
	{DataChecked, OfTrial, "consistency of the data checked", "The workload checked whether its data is consistent.", "the workload", []string{"consistent", "error"}},
	{LedgerAudited, OfTrial, "ledger compared with the database", "The ledger was compared with the database.", "", []string{"*"}},
	{LedgerUnread, OfTrial, "ledger could not be compared with the database", "The ledger could not be compared with the database.", "", []string{"error"}},
	{ProbeFailed, OfTrial, "signals cannot be read", "A node's signals cannot be read at present.", "", []string{"error"}},
	{FleetChange, OfFleet, "change on a watched server", "Something changed on a watched server.", "the server", []string{"kind", "what", "from", "to"}},
}

// Group is what an event of this kind is of; "" of a kind that is not known, which another version may have written.
func (k EventKind) Group() EventGroup {
	for _, known := range eventKinds {
		if known.Kind == k {
			return known.Group
		}
	}
	return ""
}

// Words are what a report says of an event of this kind: the kind itself where it is not known.
func (k EventKind) Words() string {
	for _, known := range eventKinds {
		if known.Kind == k {
			return known.Words
		}
	}
	return string(k)
}

// unfit says why an event is not as the list has it; "" if it is.
func (e Event) unfit() string {
	at := slices.IndexFunc(eventKinds, func(k KnownEvent) bool { return k.Kind == e.Kind })
	if at < 0 {
		return "no kind of that name is listed"
	}
	var extra []string
	for key := range e.Detail {
		if known := eventKinds[at].Detail; !slices.Contains(known, key) && !slices.Contains(known, "*") {
			extra = append(extra, key)
		}
	}
	if len(extra) > 0 {
		slices.Sort(extra)
		return "its detail has keys that are not listed: " + strings.Join(extra, ", ")
	}
	return ""
}
