package rds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func switchBlueGreen(at api) action.Action {
	return action.Action{
		Name: "rds.switch-blue-green", Version: 1,
		About: "Switches over to the copy of a blue/green deployment, which gets the instance's name; the instance becomes NAME-old1, accepts no writes and does not replicate. If this takes longer than the timeout, RDS rolls it back.",
		New:   func() action.Task { return &blueGreenSwitch{onInstance: onInstance{api: at}, Within: 5 * time.Minute} },
	}
}

type blueGreenSwitch struct {
	onInstance
	Name   string        `yaml:"name,required" doc:"Name of the deployment."`
	Within time.Duration `yaml:"within" doc:"How long RDS may take, 30s to 1h. Default 5m."`
}

var (
	_ action.Verifier         = (*blueGreenSwitch)(nil)
	_ action.Validator        = (*blueGreenSwitch)(nil)
	_ action.InFlightWaiter   = (*blueGreenSwitch)(nil)
	_ action.ApprovalDemander = (*blueGreenSwitch)(nil)
)

func (a *blueGreenSwitch) Validate() error {
	if a.Within < 30*time.Second || a.Within > time.Hour {
		return fmt.Errorf("within %v, expected 30s to 1h", a.Within)
	}
	return nil
}

func (a *blueGreenSwitch) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (a *blueGreenSwitch) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"instance": i.ID, "version": i.Version, "class": i.Class, "deployment": "none"},
		Intended: action.Facts{"instance": i.ID, "served by": "the copy"},
	}
	d, err := r.BlueGreen(ctx, a.Name)
	if errors.Is(err, aws.ErrNotFound) {
		f.State, f.Reason = action.Unknown, "the deployment is not ready yet"
		return f, nil
	}
	if err != nil {
		return f, err
	}
	f.Observed["deployment"] = d.Status
	switch d.Status {
	case aws.BlueGreenSwitched:
		f.State = action.Satisfied
	case aws.BlueGreenAvailable, aws.BlueGreenSwitching, aws.BlueGreenSwitchFail:
	default:
		f.State, f.Reason = action.Unknown, "the deployment is "+d.Status
	}
	return f, nil
}

// ApprovalReason says what clients will notice, and what is left for the way back.
func (a *blueGreenSwitch) ApprovalReason(f action.CheckResult) string {
	return fmt.Sprintf("connections to instance %v end, and writes stop for seconds up to %v; afterwards you can switch back only once the former server replicates from the new one", f.Observed["instance"], a.Within)
}

func (a *blueGreenSwitch) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return nil, err
	}
	d, err := r.BlueGreen(ctx, a.Name)
	if err != nil {
		return nil, err
	}
	if d.Status == aws.BlueGreenAvailable || d.Status == aws.BlueGreenSwitchFail {
		if err := r.SwitchOver(ctx, d.ID, a.Within); err != nil {
			return nil, err
		}
	}
	err = a.await(ctx, r, c)
	on.RolesChanged()
	return action.Facts{"former": i.ID + "-old1"}, err
}

func (a *blueGreenSwitch) await(ctx context.Context, r *aws.RDS, c action.Call) error {
	failed := false
	err := a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		d, err := r.BlueGreen(ctx, a.Name)
		if err != nil {
			return false, "", err
		}
		failed = d.Status == aws.BlueGreenSwitchFail
		return failed || d.Status == aws.BlueGreenSwitched, "the switchover, which is " + d.Status, nil
	})
	if err == nil && failed {
		return hint.With(fmt.Errorf("RDS rolled back the switchover of %s: nothing has changed", a.Name), "its status details tell why: aws rds describe-blue-green-deployments --filters Name=blue-green-deployment-name,Values="+a.Name)
	}
	return err
}

// Verify asks the server that has the instance's name now whether it takes writes.
func (a *blueGreenSwitch) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := a.Check(ctx, on)
	if err != nil {
		return err
	}
	if f.State != action.Satisfied {
		return fmt.Errorf("the switchover of %s is not done: %v", a.Name, f.Observed["deployment"])
	}
	return takesWrites(ctx, on, a.Node)
}

func takesWrites(ctx context.Context, on *cluster.Cluster, node string) error {
	shown, db, err := setting(ctx, on, node, "read_only")
	if err != nil {
		return err
	}
	if !db.SameValue("read_only", "off", shown) {
		return fmt.Errorf("node %s has read_only %s", node, shown)
	}
	return nil
}

func (a *blueGreenSwitch) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	r, err := a.api.of(ctx, on)
	if err != nil {
		return err
	}
	if d, err := r.BlueGreen(ctx, a.Name); err != nil || d.Status != aws.BlueGreenSwitching {
		return err
	}
	return a.await(ctx, r, c)
}
