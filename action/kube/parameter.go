package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/secret"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

func parameterAction(every time.Duration) action.Action {
	return action.Action{
		Name: "kube.set-parameter", Version: 1,
		About: "Sets a parameter of the servers in an operator's object. The operator restarts them one after the other; the step is done when every server shows the value.",
		New:   func() action.Task { return &parameter{every: every} },
	}
}

type parameter struct {
	Name  string `yaml:"name,required" doc:"The parameter's name in my.cnf or cassandra.yaml."`
	Value string `yaml:"value,required" doc:"Its value."`

	every time.Duration
}

var (
	_ action.Undoer           = (*parameter)(nil)
	_ action.Verifier         = (*parameter)(nil)
	_ action.InFlightWaiter   = (*parameter)(nil)
	_ action.ApprovalDemander = (*parameter)(nil)
)

var validParameter = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

func (a *parameter) Validate() error {
	if !validParameter.MatchString(a.Name) {
		return fmt.Errorf("name %q, expected a parameter such as max_connections", a.Name)
	}
	if a.Value == "" || strings.ContainsAny(a.Value, "\n\r") {
		return errors.New("value must be one line")
	}
	return nil
}

func (a *parameter) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *parameter) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	r, err := find(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	if r.operator.configuration == nil {
		return action.CheckResult{}, r.lacks("kube.set-parameter", "set a parameter in its object")
	}
	before, said := r.operator.configuration.read(r.Object, a.Name)
	if err := cmp.Or(secret.Refuse(a.Name, "the given value", a.Value), secret.Refuse(a.Name, "the present value", before)); err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{
		State: action.Needed, Observed: action.Facts{"object": r.String(), "uid": r.UID(), "value": before, "said": said},
		Intended: action.Facts{"object": r.String(), "value": a.Value, "said": true},
	}
	edits, err := a.edits(r, a.Value)
	if err != nil {
		return f, err
	}
	waits, err := r.waits(ctx, on)
	if err != nil {
		return f, err
	}
	shown, err := a.shown(ctx, on, a.Value)
	switch {
	case err != nil:
		return f, err
	case len(edits) == 0 && waits == "" && shown == "":
		f.State = action.Satisfied
		return f, nil
	case len(edits) == 0: // asked for already
		f.Reason = "the operator is still waiting for " + waits + shown
		return f, nil
	case waits != "":
		unsettled(&f, r, waits)
		return f, nil
	}
	if err := a.fits(ctx, on); err != nil {
		return f, err
	}
	return f, r.api.Try(ctx, r.kind, r.Object, edits...)
}

// fits refuses a value that a server says it would not take: it would not start with it, or would run with another one.
func (a *parameter) fits(ctx context.Context, on *cluster.Cluster) error {
	db, err := on.Database(ctx, "")
	if err != nil {
		return err
	}
	judge, can := engine.As[engine.Configurable](db)
	if !can {
		return nil // which shown has refused
	}
	why, err := judge.WhyInvalid(ctx, a.Name, a.Value)
	if err != nil || why == "" {
		return err
	}
	return &hint.PermanentError{Reason: why, Advice: "choose another value"}
}

// ApprovalReason tells what comes of it.
func (a *parameter) ApprovalReason(action.CheckResult) string {
	return "the operator restarts every server, one after the other"
}

// edits are those that say the value, or take the parameter away when it is empty; none if it is so.
func (a *parameter) edits(r resource, value string) ([]kube.Edit, error) {
	p := r.operator.configuration
	if err := r.free(p.field); err != nil {
		return nil, err
	}
	if err := p.can(r.Object); err != nil {
		return nil, err
	}
	if before, said := p.read(r.Object, a.Name); said == (value != "") && before == value {
		return nil, nil
	}
	edit, err := p.edit(r.Object, a.Name, value)
	return []kube.Edit{edit}, err
}

// shown asks the servers; "" when all show the value. One that does not show the parameter at all is refused: nothing would tell that it is
// done.
func (a *parameter) shown(ctx context.Context, on *cluster.Cluster, value string) (string, error) {
	nodes, err := on.List(ctx)
	if err != nil {
		return "", err
	}
	for _, n := range nodes {
		db, err := on.DatabaseAlone(ctx, n.Name)
		if err != nil {
			return "", err
		}
		c, ok := engine.As[engine.Configurable](db)
		if !ok {
			return "", &hint.PermanentError{Reason: fmt.Sprintf("node %s does not show its settings, so Plimsoll could not see when the change is done", n.Name)}
		}
		is, err := c.Setting(ctx, a.Name)
		var unshown *engine.Unshown
		if errors.As(err, &unshown) {
			return "", &hint.PermanentError{Reason: fmt.Sprintf("node %s does not show %s, so Plimsoll could not see when the change is done", n.Name, a.Name)}
		}
		if err != nil {
			return "", err
		}
		if !c.SameValue(a.Name, value, is) {
			return fmt.Sprintf("node %s to have %s; it has %s", n.Name, value, is), nil
		}
	}
	return "", nil
}

func (a *parameter) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	return nil, a.become(ctx, on, c, a.Value, nil)
}

func (a *parameter) become(ctx context.Context, on *cluster.Cluster, c action.Call, value string, may judge) error {
	r, err := find(ctx, on)
	if err != nil {
		return err
	}
	if err := r.write(ctx, may, func(r resource) ([]kube.Edit, error) { return a.edits(r, value) }); err != nil {
		return err
	}
	return r.await(ctx, on, a.every, c, a.has(on, value))
}

// has looks whether the object still says the value, and the servers show it. What a server has when nothing is said is not known: then
// the operator's word must do.
func (a *parameter) has(on *cluster.Cluster, value string) look {
	return func(ctx context.Context, r resource) (string, error) {
		if is, said := r.operator.configuration.read(r.Object, a.Name); said != (value != "") || is != value {
			return "", &hint.PermanentError{Reason: fmt.Sprintf("somebody else changed %s of %s to %q; this run set it to %q", a.Name, r, is, value), Advice: "agree with them on the value, then plimsoll runbook resume RUN"}
		}
		if value == "" {
			return "", nil
		}
		return a.shown(ctx, on, value)
	}
}

func (a *parameter) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	return verify(ctx, on, a.has(on, a.Value))
}

func (a *parameter) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := c.Before["value"].(string)
	if !ok {
		return errors.New("the parameter's previous value was not recorded")
	}
	value := func(r resource) any {
		is, _ := r.operator.configuration.read(r.Object, a.Name)
		return is
	}
	return a.become(ctx, on, c, before, stillOurs(c.Before, a.Name, value, a.Value, before))
}

func (a *parameter) AwaitInFlight(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	return settle(ctx, on, a.every, c)
}
