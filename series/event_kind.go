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
	Means  string
	Name   string   // what the event's name is; "": it has none
	Detail []string // the keys of its detail; a * stands for any
}

// EventKinds lists every kind that is written into events.jsonl, which writers, readers and documentation go by.
func EventKinds() []KnownEvent { return slices.Clone(eventKinds) }

var eventKinds = []KnownEvent{
	{PhaseStart, OfPhases, "A phase begins; the one before it ends.", "the phase", nil},
	{ChangeStart, OfChanges, "A change or a runbook of the timeline, or of a prepare, begins.", "what is run", nil},
	{ChangeEnd, OfChanges, "It has ended.", "what was run", []string{"seconds", "error"}},
	{StepStart, OfSteps, "A step of a runbook begins.", "the step", []string{"run"}},
	{StepEnd, OfSteps, "It has ended.", "the step", []string{"run", "seconds", "error", "troubles"}},
	{StepRetry, OfSteps, "It failed and is tried again.", "the step", []string{"run", "error"}},
	{RunAsked, OfRuns, "A run waits for a person.", "the step", []string{"run", "note"}},
	{RunApproved, OfRuns, "A person, or the trial for one, agreed.", "the step", []string{"run", "by"}},
	{RunHeld, OfRuns, "A guardrail holds the run.", "the step", []string{"run", "guardrail"}},
	{RunFreed, OfRuns, "It holds it no more.", "the step", []string{"run"}},
	{RunRefused, OfRuns, "A run was refused, as it was to be.", "the runbook", []string{"why"}},
	{RehearsalKept, OfRuns, "A rehearsal was kept in the state folder.", "the runbook", []string{"run", "passed", "nothing"}},
	{NodeRestart, OfServers, "A server is stopped and started.", "the change", nil},
	{NodeKill, OfServers, "A server's process is killed.", "the change", nil},
	{NodePowerFail, OfServers, "A server loses its power: what was not synced is gone.", "the change", nil},
	{NodeForgot, OfServers, "What it lost by that.", "the change", []string{"files", "bytes", "names"}},
	{NodeStop, OfServers, "A server is stopped.", "the change", nil},
	{NodeStart, OfServers, "A server is started.", "the change", nil},
	{NodeFreeze, OfServers, "A server stands still.", "the change", nil},
	{NodeThaw, OfServers, "It goes on.", "the change", nil},
	{NodeReconfigure, OfServers, "A server is given other settings.", "the change", nil},
	{NodeServes, OfServers, "A server answers again.", "the change", nil},
	{NodeDied, OfServers, "A server ended by itself.", "", []string{"cause", "log"}},
	{ReplicaAttached, OfServers, "A replica follows the primary.", "the change", nil},
	{ClusterRestore, OfCluster, "The data is put back.", "the change", nil},
	{ClusterServes, OfCluster, "The cluster answers with it.", "the change", nil},
	{RingPromoted, OfCluster, "A node that joins a ring answers reads.", "", nil},
	{DiskChange, OfCluster, "A node's disk is given other limits.", "the change", []string{"disk"}},
	{FaultBegan, OfCluster, "A fault is made, at a volume or a machine.", "the action", nil},
	{FaultOver, OfCluster, "It is taken back.", "the action", nil},
	{LoadErrors, OfLoad, "Operations failed in a second, by class.", "", []string{"*"}},
	{LoadLost, OfLoad, "Connections of the load were lost.", "", []string{"connections"}},
	{LoadReconnected, OfLoad, "They are all back.", "", []string{"connections"}},
	{LoadBroken, OfLoad, "The load itself went wrong, which makes the trial INVALID.", "", []string{"reason"}},
	{LoadMaximum, OfLoad, "The largest rate was found.", "the workload", []string{"per_second", "connections"}},
	{LoadAvoids, OfLoad, "Statements go to other servers than one that hangs.", "", []string{"address"}},
	{LoadReturns, OfLoad, "They go there again.", "", []string{"address"}},
	{ReadsSpread, OfLoad, "Which nodes answer reads from now on, and why others do not.", "", []string{"*"}},
	{CacheStarted, OfLoad, "A read cache was started beside the servers, empty.", "", []string{"version", "bytes"}},
	{WarmupSteady, OfTrial, "The load is steady and the engine quiet.", "", []string{"seconds"}},
	{WarmupTimeout, OfTrial, "It was not in time, and is measured all the same.", "", []string{"why"}},
	{NoiseChecked, OfTrial, "How small a difference the trial could show, by the noise of some seconds of its load, in percent.", "", []string{"seconds", "throughput_percent", "p99_percent"}},
	{TrialForeseen, OfTrial, "Something that is known before the load and that the trial may fail by.", "of what", []string{"why", "do"}},
	{StreamStart, OfCluster, "Data begins to move between nodes.", "what for", []string{"*"}},
	{StreamEnd, OfCluster, "It has moved.", "what for", []string{"*"}},
	{DataLoaded, OfTrial, "The data set stands.", "the workload", []string{"seconds"}},
	{DataChecked, OfTrial, "The workload looked whether its data is consistent.", "the workload", []string{"consistent", "error"}},
	{LedgerAudited, OfTrial, "The ledger was compared with the database.", "", []string{"*"}},
	{LedgerUnread, OfTrial, "It could not be.", "", []string{"error"}},
	{ProbeFailed, OfTrial, "A node's numbers cannot be read for now.", "", []string{"error"}},
	{FleetChange, OfFleet, "Something changed at a watched server.", "the server", []string{"kind", "what", "from", "to"}},
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
		return "its detail has " + strings.Join(extra, ", ") + ", which is not listed"
	}
	return ""
}
