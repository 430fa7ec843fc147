package rds

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/secret"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func setParameter(at api) action.Action {
	return action.Action{
		Name: "rds.set-parameter", Version: 1,
		About: "Writes a parameter into the parameter group of an instance, and reads it back from every server of the cluster that has this group. A static parameter takes effect with rds.reboot.",
		New:   func() action.Task { return &parameter{onInstance: onInstance{api: at}} },
	}
}

type parameter struct {
	onInstance
	Name  string `yaml:"name,required" doc:"The parameter's name in RDS, such as max_connections."`
	Value string `yaml:"value,required" doc:"The value in RDS's form: numbers in plain bytes, 0 and 1 for off and on."`
	Alone bool   `yaml:"alone" doc:"Look at the node's own server only, not at all of the group's: for read_only beside a server that AWS itself keeps read-only. Default false."`
	Lasts bool   `yaml:"lasts" doc:"Do not undo the step once it is done, because the step that needs it is not undone either. Default false."`
}

var (
	_ action.Undoer         = (*parameter)(nil)
	_ action.Verifier       = (*parameter)(nil)
	_ action.InFlightWaiter = (*parameter)(nil)
)

func (a *parameter) Traits() action.Traits {
	if a.Lasts {
		return action.Traits{Effect: action.Lasting, Repeatable: true}
	}
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// look returns the parameter as the group has it. One that holds a secret is refused.
func (a *parameter) look(ctx context.Context, on *cluster.Cluster) (*aws.RDS, aws.Instance, aws.Parameter, error) {
	r, i, err := a.find(ctx, on)
	if err != nil {
		return nil, i, aws.Parameter{}, err
	}
	if aws.IsDefaultGroup(i.ParameterGroup) {
		return nil, i, aws.Parameter{}, &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s has the parameter group %s, which belongs to AWS and cannot be changed", i.ID, i.ParameterGroup),
			Advice: "create a parameter group of that family, assign it to the instance and reboot it",
		}
	}
	p, err := r.Parameter(ctx, i.ParameterGroup, a.Name)
	if errors.Is(err, aws.ErrNotFound) {
		return nil, i, p, &hint.PermanentError{Reason: fmt.Sprintf("the parameter group %s has no parameter %s", i.ParameterGroup, a.Name), Advice: "aws rds describe-db-parameters --db-parameter-group-name " + i.ParameterGroup}
	}
	if err != nil {
		return nil, i, p, err
	}
	if err := cmp.Or(secret.Refuse(a.Name, "the given value", a.Value), secret.Refuse(a.Name, "the present value", p.Value)); err != nil {
		return nil, i, aws.Parameter{}, err
	}
	return r, i, p, nil
}

// sharing is who has a parameter group.
type sharing struct {
	nodes    []string        // of the cluster, whose instances have it
	replicas map[string]bool // those of them that RDS keeps as read replicas
	unknown  []string        // nodes whose instance RDS does not know: a switchover leaves such names, before or after it
}

// sharers are the nodes of the cluster whose instances have the group of an instance: with alone the node itself, whoever else has it.
func (a *parameter) sharers(ctx context.Context, on *cluster.Cluster, r *aws.RDS, i aws.Instance) (sharing, error) {
	is := sharing{replicas: map[string]bool{}}
	if a.Alone {
		is.nodes, is.replicas[a.Node] = []string{a.Node}, i.Source != ""
		return is, nil
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return is, err
	}
	for _, n := range nodes {
		if n.Instance == "" {
			continue
		}
		other, err := r.Instance(ctx, n.Instance)
		switch {
		case errors.Is(err, aws.ErrNotFound):
			is.unknown = append(is.unknown, n.Name)
		case err != nil:
			return is, err
		case other.ParameterGroup == i.ParameterGroup:
			is.nodes, is.replicas[n.Name] = append(is.nodes, n.Name), other.Source != ""
		}
	}
	return is, nil
}

// passedOver says which nodes were not looked at; "" if all were.
func (s sharing) passedOver() string {
	if len(s.unknown) == 0 {
		return ""
	}
	return "not checked, because RDS does not know their instances: " + strings.Join(s.unknown, ", ")
}

// mayOpen refuses a read_only with which a server of the group would take writes beside a primary, as mysql.set-variable refuses it for one.
func (a *parameter) mayOpen(ctx context.Context, on *cluster.Cluster, of sharing, value string, c action.Call) error {
	if a.Name != "read_only" {
		return nil
	}
	for _, node := range of.nodes {
		switch strings.ToUpper(value) {
		case "0", "OFF", "FALSE":
		case trueIfReplica:
			if of.replicas[node] {
				continue
			}
		default:
			continue
		}
		if err := a.api.may(ctx, on, node, c); err != nil {
			return err
		}
	}
	return nil
}

// trueIfReplica is RDS's own formula of read_only, in its groups by default.
const trueIfReplica = "{TRUEIFREPLICA}"

func (a *parameter) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, i, p, err := a.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"group": i.ParameterGroup, a.Name: orDefault(p.Value)}, Intended: action.Facts{"group": i.ParameterGroup, a.Name: a.Value},
	}
	if !p.Modifiable {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("RDS does not allow changes of %s", a.Name)}
	}
	if !p.Allows(a.Value) {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("%s cannot be %s: RDS allows %s", a.Name, a.Value, p.Allowed), Advice: "choose another value; sizes are in bytes, without a unit"}
	}
	of, err := a.sharers(ctx, on, r, i)
	if err != nil {
		return f, err
	}
	f.Reason = of.passedOver()
	if p.Value != a.Value {
		if p.Static {
			f.Reason = and("it is static, so it takes effect with the next reboot (rds.reboot)", f.Reason)
		}
		return f, a.mayOpen(ctx, on, of, a.Value, action.Call{})
	}
	if p.Static {
		f.State = action.Satisfied
		if i.ParameterStatus == "pending-reboot" {
			f.Reason = and("the group has the value; the reboot is pending", f.Reason)
		}
		return f, nil
	}
	missing, err := a.unlike(ctx, on, of)
	if err != nil {
		return f, err
	}
	if missing == "" {
		f.State = action.Satisfied
	}
	f.Reason = and(missing, f.Reason)
	return f, nil
}

// and joins what there is to say.
func and(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "; " + second
}

func orDefault(value string) string {
	if value == "" {
		return "the engine's default"
	}
	return value
}

// unlike says which server does not show the value; "" if all do.
func (a *parameter) unlike(ctx context.Context, on *cluster.Cluster, of sharing) (string, error) {
	for _, node := range of.nodes {
		shown, db, err := setting(ctx, on, node, a.Name)
		if err != nil {
			return "", err
		}
		if !db.SameValue(a.Name, a.Value, shown) {
			return fmt.Sprintf("node %s shows %s", node, shown), nil
		}
	}
	return "", nil
}

func (a *parameter) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, i, p, err := a.look(ctx, on)
	if err != nil {
		return nil, err
	}
	of, err := a.sharers(ctx, on, r, i)
	if err != nil {
		return nil, err
	}
	if p.Value != a.Value {
		if err := a.mayOpen(ctx, on, of, a.Value, c); err != nil {
			return nil, err
		}
		if err := r.SetParameter(ctx, i.ParameterGroup, p, a.Value); err != nil {
			return nil, err
		}
	}
	out := action.Facts{}
	if over := of.passedOver(); over != "" {
		out["note"] = over
	}
	if p.Static {
		out["takes_effect"] = "with the next reboot"
		return out, nil
	}
	return out, a.api.look(ctx, r, c, func(ctx context.Context) (bool, string, error) {
		of, err := a.sharers(ctx, on, r, i)
		if err != nil {
			return false, "", err
		}
		missing, err := a.unlike(ctx, on, of)
		return missing == "" && err == nil, "the value on every server: " + missing, err
	})
}

func (a *parameter) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := a.Check(ctx, on)
	if err != nil {
		return err
	}
	if f.State != action.Satisfied {
		return fmt.Errorf("%s is not %s everywhere: %s", a.Name, a.Value, f.Reason)
	}
	return nil
}

func (a *parameter) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	if a.Lasts {
		switch f, err := a.Check(ctx, on); {
		case err != nil:
			return err
		case f.State == action.Satisfied:
			return &hint.PermanentError{Reason: fmt.Sprintf("%s stays %s, because the step that needs it is not undone", a.Name, a.Value), Advice: fmt.Sprintf("rds/set-parameter -i node=%s -i name=%s changes it", a.Node, a.Name)}
		}
	}
	before, _ := c.Before[a.Name].(string)
	_, i, p, err := a.look(ctx, on)
	if err != nil {
		return err
	}
	if group, _ := c.Before["group"].(string); group != "" && group != i.ParameterGroup {
		return &hint.PermanentError{Reason: fmt.Sprintf("instance %s has parameter group %s now, and this run changed %s", i.ID, i.ParameterGroup, group),
			Advice: fmt.Sprintf("change %s back in parameter group %s by hand, if it is to be changed back", a.Name, group)}
	}
	if now := orDefault(p.Value); before != "" && p.Value != a.Value && now != before {
		return action.ChangedSince(a.Name+" of parameter group "+i.ParameterGroup, now, a.Value, before)
	}
	if before == "" || before == orDefault("") {
		return &hint.PermanentError{Reason: a.Name + " had no explicit value before", Advice: "to reset it to the engine's default: aws rds reset-db-parameter-group --db-parameter-group-name " + i.ParameterGroup + " --parameters ParameterName=" + a.Name + ",ApplyMethod=pending-reboot"}
	}
	back := *a
	back.Value = before
	_, err = back.Act(ctx, on, c)
	return err
}

// AwaitInFlight has nothing to wait for: the request itself is at once, and the check asks every server.
func (a *parameter) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error { return nil }
