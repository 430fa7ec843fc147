package catalog

import (
	"slices"
	"time"

	"plimsoll/action"
	"plimsoll/action/fault"
	"plimsoll/action/volume"
	"plimsoll/lab"
	"plimsoll/series"
	"plimsoll/trial/spec"
)

// Faults are what a timeline does to a cluster that was made for the trial, by the names that results, phases and expectations have:
// actions, each with how long it lasts there and what its events are called.
func Faults() []spec.Fault {
	start := used("server.start")
	stop := used("server.stop")
	return append([]spec.Fault{
		{Name: "lab/restart", Action: used("server.restart"), Timed: &stop, Began: series.NodeRestart, Done: series.NodeServes, Over: series.NodeServes},
		{Name: "lab/kill", Action: used("server.kill"), For: lasts(0), Began: series.NodeKill, Over: series.NodeServes, Explain: killIsNotPower},
		{Name: "lab/power-fail", Action: used("fault.power-fail"), For: lasts(0), Ending: &start, Began: series.NodePowerFail, Done: series.NodeForgot,
			Over: series.NodeServes, Shown: []string{"files", "bytes", "names"}, Explain: powerIsPaidFor, Demand: func(s *lab.Spec) { s.Forgetful = true }},
		{Name: "lab/lose", Action: used("server.kill"), Began: series.NodeKill, Over: series.NodeServes, Explain: killIsNotPower},
		{Name: "lab/stop", Action: stop, Began: series.NodeStop, Over: series.NodeServes},
		{Name: "lab/start", Action: start, Began: series.NodeStart, Done: series.NodeServes},
		{Name: "lab/freeze", Action: used("server.freeze"), For: lasts(longFreeze), Began: series.NodeFreeze, Over: series.NodeThaw},
		{Name: "lab/reconfigure", Action: used("server.configure"), Began: series.NodeReconfigure, Done: series.NodeServes, Unsettles: true},
		{Name: "lab/disk", Action: used("fault.change-disk"), Began: series.DiskChange, Shown: []string{"disk"}, Demand: disks},
		{Name: "lab/restore", Action: used("fault.restore"), Began: series.ClusterRestore, Done: series.ClusterServes},
		{Name: "mysql/attach-replica", Action: used("server.add"), Done: series.ReplicaAttached, Grows: 1},
	}, faultsOnMachines()...)
}

// longFreeze is longer than most clients' patience for one statement.
const longFreeze = 5 * time.Second

func lasts(d time.Duration) *time.Duration { return &d }

const (
	killIsNotPower = "lab/kill kills the process: everything that the server had written to the operating system survives, synced or not. lab/power-fail shows what a power failure would lose in addition."
	powerIsPaidFor = "lab/power-fail is a power failure: the server is killed, and everything that it had not synced is lost. " +
		"The file system layer that makes this possible adds time to every write and sync: throughput and latencies are not those of the bare disk."
)

// used is an action that ships.
func used(name string) action.Action {
	a, known := action.Find(slices.Concat(action.Servers(), fault.Actions()), name)
	if !known {
		panic("no action " + name) // at registration
	}
	return a
}

// faultsOnMachines are the actions on machines and volumes by their own names.
func faultsOnMachines() (all []spec.Fault) {
	for _, a := range slices.Concat(volume.Actions(), fault.OnMachines()) {
		all = append(all, spec.Fault{Name: a.Name, Action: a, Began: series.FaultBegan, Over: series.FaultOver, Demand: machines})
	}
	return all
}

// machines asks for kernels of the nodes' own.
func machines(s *lab.Spec) {
	if s.Machines == nil {
		s.Machines = &lab.Machines{}
	}
}

// disks asks for disks that can be changed.
func disks(s *lab.Spec) {
	if s.Disk == nil {
		s.Disk = lab.Unlimited()
	}
}
