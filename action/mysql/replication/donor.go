package replication

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/action"
	"plimsoll/cluster"
)

var pickDonorAction = action.Action{
	Name: "mysql.pick-donor", Version: 1,
	About: "Chooses the donor for a new node: a healthy replica, otherwise the primary, which is then stopped while it is copied. Its output is node.",
	New:   func() action.Task { return &pickDonorTask{} },
}

type pickDonorTask struct {
	For     string `yaml:"for" doc:"The new node, which cannot be the donor."`
	Copy    bool   `yaml:"copy" doc:"Whether mysql.copy is to fill the new node: refused where that does not work, before a server is stopped for it. Default false."`
	Primary bool   `yaml:"primary" doc:"Whether the primary may be chosen without asking if there is no healthy replica. Default false: a person must agree."`
}

var (
	_ action.Verifier         = (*pickDonorTask)(nil)
	_ action.ApprovalDemander = (*pickDonorTask)(nil)
)

func (p *pickDonorTask) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true}
}

func (p *pickDonorTask) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	name, err := p.donor(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	primary, err := on.Primary(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	return action.CheckResult{State: action.Needed, Observed: action.Facts{"donor": name, "is_primary": name == primary.Name}}, nil
}

// donor refuses one whose data mysql.copy could not copy. A node that does not exist yet is made by a lab, which knows where its data is.
func (p *pickDonorTask) donor(ctx context.Context, on *cluster.Cluster) (string, error) {
	name, err := pickDonor(ctx, on, p.For)
	if err != nil || !p.Copy {
		return name, err
	}
	if _, err := on.Node(ctx, p.For); errors.Is(err, cluster.ErrNoNode) && on.Grower != nil {
		return name, nil
	}
	_, _, err = (&copyData{Node: p.For, From: name}).nodes(ctx, on)
	return name, err
}

// ApprovalReason names the outage.
func (p *pickDonorTask) ApprovalReason(f action.CheckResult) string {
	if is, _ := f.Observed["is_primary"].(bool); is && !p.Primary {
		return fmt.Sprintf("there is no healthy replica to copy: the primary %v would be stopped while its data is copied", f.Observed["donor"])
	}
	return ""
}

func (p *pickDonorTask) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	name, err := p.donor(ctx, on)
	return action.Facts{"node": name}, err
}

// Verify asks for nothing more.
func (p *pickDonorTask) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// pickDonor is the last replica that takes and applies all that its source has, by GTID and without filters; else the primary.
func pickDonor(ctx context.Context, on *cluster.Cluster, but string) (string, error) {
	all, err := ask(ctx, on)
	if err != nil {
		return "", err
	}
	name := ""
	for _, p := range all {
		if p.name == but || !p.answers() || len(p.is.Sources) != 1 {
			continue
		}
		if from := p.is.Sources[0]; from.Receives && from.Applies && from.Automatic && from.Filter == "" && from.Delay == 0 {
			name = p.name
		}
	}
	if name != "" {
		return name, nil
	}
	primary, err := on.Primary(ctx)
	return primary.Name, err
}
