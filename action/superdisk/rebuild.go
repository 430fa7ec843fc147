package superdisk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/superdisk"
)

var rebuildAction = action.Action{
	Name: "superdisk.rebuild", Version: 1,
	About: "Rebuilds a leg while the other serves: it copies only what was written since the leg left, the blocks that the file system uses, or everything. The copy slows down before it slows the service.",
	New: func() action.Task {
		return &rebuild{array: array{Array: usual}, Leg: string(superdisk.Local), Slack: 1.5, Floor: 5 << 20, Ceiling: 1 << 30}
	},
}

type rebuild struct {
	array

	Leg     string        `yaml:"leg" doc:"Which: local or network. Default local."`
	Volume  string        `yaml:"volume,required" doc:"The disk: a device, or the id of a volume."`
	Probe   string        `yaml:"probe" doc:"A query to the node's database, sent twenty times a second: its p99 governs the copy. It should read from the disk. Default: none, so the copy runs at ceiling."`
	P99     time.Duration `yaml:"p99" doc:"Limit of the probe's p99. Default: slack times its value before the copy begins."`
	Slack   float64       `yaml:"slack" doc:"How much slower the probe may become, if no p99 is given. Default 1.5."`
	Floor   int64         `yaml:"floor" doc:"Minimum bytes per second of the copy, whatever the service's latency. Default 5 MiB."`
	Ceiling int64         `yaml:"ceiling" doc:"Upper limit of the copy in bytes per second. Default 1 GiB."`
}

var (
	_ action.Undoer         = (*rebuild)(nil)
	_ action.Validator      = (*rebuild)(nil)
	_ action.InFlightWaiter = (*rebuild)(nil)
)

func (r *rebuild) Validate() error {
	if err := roleOf(r.Leg); err != nil {
		return err
	}
	if r.Floor < 64<<10 || r.Ceiling < r.Floor || r.Slack < 1 {
		return errors.New("floor must be 65536 or more, ceiling at least floor, slack 1 or more")
	}
	return nil
}

// Traits says interruptible: a copy that is cut off goes on where it was.
func (r *rebuild) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true, Interruptible: true}
}

// job is the rebuild on the machine.
func (r *rebuild) job(ctx context.Context, on *cluster.Cluster) (superdisk.Rebuild, error) {
	m, a, err := r.there(ctx, on)
	if err != nil {
		return superdisk.Rebuild{}, err
	}
	device, err := r.device(ctx, on, m, r.Volume)
	if err != nil {
		return superdisk.Rebuild{}, err
	}
	for _, leg := range a.Legs {
		if leg.Device == device || leg.Faulty() {
			continue
		}
		if err := toldApart(ctx, m, device, leg.Device); err != nil {
			return superdisk.Rebuild{}, err
		}
	}
	return superdisk.Rebuild{Machine: m, Array: a.UUID, Target: device, Role: superdisk.Role(r.Leg), Program: program, Rate: r.Ceiling}, nil
}

func (r *rebuild) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	m, s, a, found, err := r.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	result := action.CheckResult{State: action.Needed, Observed: facts(a, found), Intended: action.Facts{r.Leg + " leg": r.Volume + " in step"}}
	if !found {
		result = r.awaitsArray(ctx, m, s, result)
	}
	_, err = r.device(ctx, on, m, r.Volume)
	if errors.Is(err, infra.ErrNotAttached) {
		result = awaitsDisk(ctx, on, m, r.Node, r.Volume, result)
	} else if err != nil {
		return result, refuse(err)
	}
	if len(result.Awaits) > 0 {
		return result, nil
	}
	job, err := r.job(ctx, on)
	if err != nil {
		return result, refuse(err)
	}
	if err := r.meant(a, job.Target); err != nil {
		return result, err
	}
	leg, in := a.On(job.Target)
	switch {
	case in && leg.InStep() && a.Whole():
		result.State = action.Satisfied
		return recorded(ctx, on, a, result)
	case !in && a.Degraded == 0:
		return r.awaitsPlace(a, job.Target, result), nil
	}
	choice, err := job.Choose(ctx)
	if err != nil {
		return result, refuse(err)
	}
	result.Intended["method"] = string(choice.Method)
	result.Reason = fmt.Sprintf("%s: %s", choice.Method, choice.Why)
	return result, nil
}

// meant refuses the leg that serves in the place of the one that is to be rebuilt, and the other leg of an array that has both.
func (r *rebuild) meant(a superdisk.Array, device string) error {
	leg, in := a.On(device)
	if !in || leg.Faulty() {
		return nil
	}
	_, has := a.Leg(superdisk.Network)
	other := string(leg.Role) != r.Leg && (has || a.Degraded > 0) // of an array that has both legs and no write-mostly one nobody can tell them apart
	switch {
	case other:
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is the %s leg of array %s, not its %s leg", named(leg), leg.Role, a.Label(), r.Leg), Advice: r.rightDisk()}
	case leg.InStep() && a.Degraded > 0:
		other := map[string]string{"local": "superdisk/reattach-network", "network": "superdisk/rebuild"}[r.Leg]
		return &hint.PermanentError{Reason: fmt.Sprintf("%s is in step and serves: the other leg of array %s is missing", named(leg), a.Label()), Advice: fmt.Sprintf("%s -i node=%s brings that one into step", other, r.Node)}
	}
	return nil
}

// isFilled records that the leg is out of step, before it gets anything: a leg that was seeded has, for the moment before md takes it, a superblock that says
// all is well. Should the machine be lost then, it would be a leg of which nothing is known.
func (r *rebuild) isFilled(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array, device string) error {
	serial, err := serialOf(ctx, m, device)
	if err != nil {
		return err
	}
	return leaves(ctx, on, m, a, superdisk.Leg{Device: device, Volume: serial, Role: superdisk.Role(r.Leg)})
}

// another adds to a refusal of the disk how another is taken: the run keeps its inputs, and the other leg serves meanwhile.
func (r *rebuild) another(err error) error {
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) {
		return err
	}
	again := "superdisk/rebuild -i node=" + r.Node
	if r.Leg == string(superdisk.Network) {
		again = "superdisk/reattach-network -i node=" + r.Node
	}
	return &hint.PermanentError{Reason: refusal.Reason,
		Advice: refusal.Advice + fmt.Sprintf("; the other leg serves meanwhile, and stays so when this run is ended without an undo (plimsoll runbook cancel RUN --leave REASON); then %s takes another disk", again)}
}

// rightDisk is what to name in the place of the wrong leg.
func (r *rebuild) rightDisk() string {
	if r.Leg == string(superdisk.Network) {
		return "name the network volume"
	}
	return "name the local disk of the machine of " + r.Node
}

func (r *rebuild) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	job, err := r.job(ctx, on)
	if err != nil {
		return nil, refuse(err)
	}
	_, a, err := r.there(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := r.meant(a, job.Target); err != nil {
		return nil, err
	}
	job.Begins = func(ctx context.Context) error { return r.isFilled(ctx, on, job.Machine, a, job.Target) }
	job.Mark = action.Mark(c)
	if r.Probe != "" {
		probe, err := startProbe(ctx, on, r.Node, r.Probe)
		if err != nil {
			return nil, err
		}
		defer probe.stop()
		bound := r.P99
		if bound == 0 {
			c.Progress(0, "measuring the service before the copy begins")
			calm, err := probe.calm(ctx)
			if err != nil {
				return nil, err
			}
			bound = time.Duration(float64(calm) * r.Slack)
		}
		job.Governor = &superdisk.Governor{Bound: bound, Floor: r.Floor, Ceiling: r.Ceiling}
		job.Meter = probe.p99
	}
	done, err := job.Run(ctx, c.Progress)
	if err != nil {
		return nil, r.another(refuse(err))
	}
	out := action.Facts{
		"method": string(done.Method), "why": done.Why, "used_bytes": done.Used, "seeded_bytes": done.Seeded, "tail_bytes": done.Tail, "seconds": done.Took.Seconds(),
	}
	if g := done.Governed; g != nil {
		out["p99_bound_ms"], out["p99_worst_ms"] = g.Bound.Seconds()*1e3, g.WorstP99.Seconds()*1e3
		out["looks"], out["looks_over"], out["slowed"], out["looks_at_floor"], out["lowest_bytes_per_second"], out["highest_bytes_per_second"] = g.Looks, g.Over, g.Slowed, g.AtFloor, g.Lowest, g.Highest
	}
	return out, note(ctx, on, job.Machine)
}

// AwaitInFlight waits for a copy that has lost its Plimsoll: it ends with its standard input.
func (r *rebuild) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	m, err := on.Machine(ctx, r.Node)
	if err != nil {
		return err
	}
	return action.AwaitProcesses(ctx, m, c)
}

// wasLeg says that a device was a leg, and not given up, when these facts were observed.
func wasLeg(before action.Facts, device string) bool {
	legs, _ := before["legs"].(string)
	for leg := range strings.SplitSeq(legs, ", ") { // as facts writes them
		words := strings.Fields(leg)
		if len(words) > 2 && words[1] == device && !slices.Contains(strings.Split(words[2], "+"), "faulty") {
			return true
		}
	}
	return false
}

// Undo takes the leg out again: the other has all it has. A leg that was in the array before the step stays. The array keeps nothing of the
// copy's pace, which is reset by a copy that came to its end alone.
func (r *rebuild) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	m, a, err := r.there(ctx, on)
	if err != nil {
		return err
	}
	err = r.takeOut(ctx, on, m, a, c)
	if a.Running() {
		err = errors.Join(err, superdisk.ResetPace(ctx, m, a.Device))
	}
	return err
}

// takeOut takes the leg out, if it was not one before the step.
func (r *rebuild) takeOut(ctx context.Context, on *cluster.Cluster, m infra.Machine, a superdisk.Array, c action.Call) error {
	device, err := r.device(ctx, on, m, r.Volume)
	if errors.Is(err, infra.ErrNotAttached) {
		return nil
	}
	if err != nil {
		return err
	}
	leg, in := a.On(device)
	if !in || wasLeg(c.Before, device) {
		return note(ctx, on, m) // an undo that was cut off may have taken it out
	}
	if !leg.Faulty() {
		if err := fail(ctx, on, m, a, leg); err != nil {
			return err
		}
	}
	return errors.Join(superdisk.Remove(ctx, m, a.Device, device), note(ctx, on, m))
}

// program is how the copy is started on a machine.
func program(ctx context.Context, m infra.Machine) (infra.Command, error) {
	return superdisk.Program(ctx, m)
}
