package rds

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func modifyStorage(at api) action.Action {
	return action.Action{
		Name: "rds.modify-storage", Version: 1, About: "Changes the size, type or IOPS of an instance's volume while it serves. A volume can never be made smaller again.",
		New: func() action.Task { return &storage{onInstance: onInstance{api: at}} },
	}
}

type storage struct {
	onInstance
	GiB        int    `yaml:"gib" doc:"Size in GiB. Default: unchanged."`
	Type       string `yaml:"type" doc:"gp2, gp3, io1 or io2. Default: unchanged."`
	IOPS       int    `yaml:"iops" doc:"Provisioned operations per second. Default: unchanged."`
	Throughput int    `yaml:"throughput" doc:"Provisioned MiB per second, for gp3. Default: unchanged."`
}

var (
	_ action.Validator        = (*storage)(nil)
	_ action.Verifier         = (*storage)(nil)
	_ action.InFlightWaiter   = (*storage)(nil)
	_ action.ApprovalDemander = (*storage)(nil)
)

func (a *storage) Validate() error {
	switch a.Type {
	case "", "gp2", "gp3", "io1", "io2":
	default:
		return fmt.Errorf("type %q, expected gp2, gp3, io1 or io2", a.Type)
	}
	if a.GiB < 0 || a.IOPS < 0 || a.Throughput < 0 {
		return errors.New("a negative size")
	}
	if a.wish() == (aws.Storage{}) {
		return errors.New("nothing to change: give gib, type, iops or throughput")
	}
	return nil
}

func (a *storage) wish() aws.Storage {
	return aws.Storage{Type: a.Type, GiB: a.GiB, IOPS: a.IOPS, Throughput: a.Throughput}
}

// Traits says irreversible: a volume never shrinks, and any other change must wait for six hours.
func (a *storage) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

var storagePending = []string{aws.PendingSize, aws.PendingType, aws.PendingIOPS, aws.PendingThroughput}

// missing says what of the wish a volume is not yet; "" if it is all.
func (a *storage) missing(i aws.Instance) string {
	for _, x := range []struct {
		name      string
		wish, has string
	}{
		{"size in GiB", text(a.GiB), text(i.Storage.GiB)}, {"type", a.Type, i.Storage.Type},
		{"IOPS", text(a.IOPS), text(i.Storage.IOPS)}, {"throughput", text(a.Throughput), text(i.Storage.Throughput)},
	} {
		if x.wish != "" && x.wish != x.has {
			return fmt.Sprintf("%s %s, which is %s", x.name, x.wish, x.has)
		}
	}
	for _, name := range storagePending {
		if i.Pending[name] != "" {
			return name + " " + i.Pending[name] + ", which is pending"
		}
	}
	return ""
}

func text(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func (a *storage) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, i, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: storageFacts(i.ID, i.Storage), Intended: storageFacts(i.ID, a.wish())}
	if a.GiB != 0 && a.GiB < i.Storage.GiB {
		return f, &hint.PermanentError{
			Reason: fmt.Sprintf("the volume of instance %s has %d GiB, and a volume of RDS never shrinks", i.ID, i.Storage.GiB),
			Advice: "build a new instance of that size and move to it: with a replica, a blue/green deployment or a dump",
		}
	}
	if err := foreign(i, storagePending...); err != nil {
		return f, err
	}
	switch {
	case a.missing(i) == "":
		f.State = action.Satisfied
	case !i.Settled():
		f.State, f.Reason = action.Unknown, fmt.Sprintf("instance %s is %s", i.ID, i.Status)
	}
	return f, nil
}

func storageFacts(id string, s aws.Storage) action.Facts {
	f := action.Facts{"instance": id}
	for name, value := range map[string]string{"type": s.Type, "gib": text(s.GiB), "iops": text(s.IOPS), "throughput": text(s.Throughput)} {
		if value != "" {
			f[name] = value
		}
	}
	return f
}

// ApprovalReason tells what cannot be taken back.
func (a *storage) ApprovalReason(f action.CheckResult) string {
	return fmt.Sprintf("the volume of instance %v can never be made smaller again, and takes no other change for six hours; it may be slower for hours while AWS optimizes it", f.Observed["instance"])
}

func (a *storage) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return nil, err
	}
	if a.missing(i) != "" && !anyPending(i) {
		if err := foreign(i); err != nil {
			return nil, err
		}
		c.Progress(-1, "requesting the change of the volume")
		if err := r.Modify(ctx, i.ID, aws.Modification{Storage: a.wish()}); err != nil {
			return nil, err
		}
	}
	return nil, a.api.await(ctx, r, i.ID, c, func(now aws.Instance) string { return a.missing(now) })
}

func anyPending(i aws.Instance) bool {
	for _, name := range storagePending {
		if i.Pending[name] != "" {
			return true
		}
	}
	return false
}

func (a *storage) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	_, i, err := a.find(ctx, on)
	if err != nil {
		return err
	}
	if missing := a.missing(i); missing != "" {
		return fmt.Errorf("the volume of instance %s has not yet %s", i.ID, missing)
	}
	return answers(ctx, on, a.Node)
}

func (a *storage) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return a.settle(ctx, on, c, storagePending...)
}
