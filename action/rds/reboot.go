package rds

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/infra/aws"
)

func reboot(at api) action.Action {
	return action.Action{
		Name: "rds.reboot", Version: 1, About: "Restarts the server of an instance and waits until it serves, judged by the server's own uptime.",
		New: func() action.Task { return &rebooting{onInstance: onInstance{api: at}} },
	}
}

type rebooting struct {
	onInstance
	Failover bool `yaml:"failover" doc:"Of a Multi-AZ instance: the standby takes over. Static parameters of Multi-AZ instances need a reboot without failover."`
}

var (
	_ action.Verifier       = (*rebooting)(nil)
	_ action.InFlightWaiter = (*rebooting)(nil)
)

// Traits says repeatable: an act that was interrupted sees by the server's start whether it was restarted.
func (a *rebooting) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

// started is when the server says that it was started, to about a second.
func (a *rebooting) started(ctx context.Context, on *cluster.Cluster) (time.Time, error) {
	up, err := on.Column(ctx, a.Node, "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = 'Uptime'")
	if err != nil || len(up) == 0 {
		up, err = on.Column(ctx, a.Node, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME'") // MariaDB
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("read the uptime of node %s: %w", a.Node, err)
	}
	if len(up) != 1 {
		return time.Time{}, fmt.Errorf("node %s does not show its uptime", a.Node)
	}
	seconds, err := strconv.ParseFloat(up[0], 64)
	return time.Now().Add(-time.Duration(seconds * float64(time.Second))).Truncate(time.Second), err
}

// Check always finds it needed: no state says that a server was restarted.
func (a *rebooting) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, i, err := a.find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"instance": i.ID, "parameters": i.ParameterStatus}, Intended: action.Facts{"instance": i.ID, "server": "started anew"}}
	if err := foreign(i); err != nil {
		return f, err
	}
	if !i.Settled() {
		f.State, f.Reason = action.Unknown, fmt.Sprintf("instance %s is %s", i.ID, i.Status)
	}
	return f, nil
}

// clocks is how far the server's idea of when it was started may be off: it counts whole seconds.
const clocks = 2 * time.Second

func (a *rebooting) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return nil, err
	}
	again := func(ctx context.Context) (bool, error) {
		started, err := a.started(ctx, on)
		return err == nil && started.After(c.Since.Add(-clocks)), err
	}
	if done, err := again(ctx); err != nil || !done {
		c.Progress(-1, "requesting the reboot")
		if err := r.Reboot(ctx, i.ID, a.Failover); err != nil && !aws.IsBusy(err) { // busy: an attempt before this one is under way
			return nil, err
		}
	}
	err = a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		now, err := r.Instance(ctx, i.ID)
		if err == nil {
			err = now.Usable()
		}
		if err != nil || !now.Settled() {
			return false, fmt.Sprintf("instance %s, which is %s", i.ID, now.Status), err
		}
		done, err := again(ctx)
		return done, "the server's new start", err
	})
	return nil, err
}

func (a *rebooting) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	return answers(ctx, on, a.Node)
}

func (a *rebooting) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return a.settle(ctx, on, c)
}
