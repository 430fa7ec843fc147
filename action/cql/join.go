package cql

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

var joinAction = action.Action{
	Name: "cql.join", Version: 3,
	About: "Starts an empty node, which streams its ranges from the others or, with replaces, takes over those of a dead one; waits until the ring sees it as up and normal (UN).",
	New:   func() action.Task { return &join{} },
}

const (
	// replaceSetting is the property with which a node takes the place of a dead one at its first start.
	replaceSetting = "cassandra.replace_address_first_boot"
	// anewSetting has a node that is started again while it joins stream all ranges anew. Without it Cassandra 5.0 does not
	// start once a range was complete (CASSANDRA-17679); with false it would keep that range without the writes that it missed
	// while it was down.
	anewSetting = "cassandra.reset_bootstrap_progress"
)

type join struct {
	Node       string `yaml:"node,required" doc:"The empty node."`
	Replaces   string `yaml:"replaces" doc:"The dead node that it replaces. Default: none, so the ring grows."`
	AcceptLoss string `yaml:"accept_loss" doc:"With replaces: keyspaces, separated by commas, of which the dead node may have had the only replica. Default: none."`
}

var (
	_ action.Undoer   = (*join)(nil)
	_ action.Verifier = (*join)(nil)
)

// Traits says repeatable: a node whose bootstrap was interrupted goes on with it when it is started again. What has taken the
// place of a dead one stays there.
func (j *join) Traits() action.Traits {
	if j.Replaces != "" {
		return action.Traits{Effect: action.Lasting, Repeatable: true}
	}
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (j *join) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "start a node that joins the ring", "kube/scale"); err != nil {
		return action.CheckResult{}, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	n, err := on.Node(ctx, j.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	v, err := r.view(ctx, n.Name)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"members": len(v.Members)}, Intended: action.Facts{"state": "UN"}}
	dead, err := j.dead(ctx, on, v)
	if err != nil {
		return f, err
	}
	if dead != "" {
		f.Intended["replaces"] = dead
	}
	is := v.member(n)
	if is != nil {
		f.Observed = action.Facts{"state": is.Code()}
		if j.done(v, is, dead) {
			f.State = action.Satisfied
			return f, nil
		}
	}
	if err := errors.Join(v.whole(ctx, is, v.at(dead)), v.agreed()); err != nil {
		return f, err
	}
	if is == nil && dead != "" {
		if err := v.keeps(ctx, j.Replaces, j.AcceptLoss); err != nil {
			return f, err
		}
	}
	if is == nil && n.Server == nil {
		return f, byHand(n, dead)
	}
	if is == nil {
		if short := v.short(ctx, on); len(short) > 0 {
			f.Observed[shortKey] = short
		}
		if err := left(ctx, n); err != nil {
			return f, err
		}
	}
	center, err := centerOf(ctx, n)
	if err != nil {
		return f, err
	}
	if err := v.misplaced(n, center, v.at(dead)); err != nil {
		return f, err
	}
	return f, holds(ctx, n, v.share(center, v.at(dead)))
}

// left refuses a server that has left a ring and runs on: it never joins another, nor the same again.
func left(ctx context.Context, n cluster.Node) error {
	if running, err := n.Server.Running(ctx); err != nil || !running || tooled(n) != nil || n.Loose {
		return err
	}
	if is, _ := mode(ctx, n); is != "DECOMMISSIONED" { // one that has just been started says nothing yet
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("the server of node %s has left the ring (DECOMMISSIONED), but is still running", n.Name),
		Advice: "stop it and empty its data folder; then plimsoll runbook resume RUN"}
}

// done tells whether the ring has a node as it should be.
func (j *join) done(v view, is *engine.Member, dead string) bool {
	return is.Part == engine.Normal && is.Up && v.at(dead) == nil
}

// at is the member at a host; nil if there is none.
func (v view) at(address string) *engine.Member {
	for i, m := range v.Members {
		if host(m.Address) == address {
			return &v.Members[i]
		}
	}
	return nil
}

// dead is the host of the node to be replaced, which must be down, or gone already; "" if none is to be.
func (j *join) dead(ctx context.Context, on *cluster.Cluster, v view) (string, error) {
	if j.Replaces == "" {
		return "", nil
	}
	n, err := on.Node(ctx, j.Replaces)
	if err != nil {
		return "", err
	}
	if is := v.member(n); is != nil {
		if is.Up {
			return "", alive(n, *is)
		}
		return host(is.Address), nil
	}
	gone := host(n.Target.Addresses[0])
	if known := v.ring.named[gone]; len(known) > 0 {
		gone = known[0] // members know one another by addresses alone
	}
	return gone, nil
}

// alive refuses to have a node replaced that the ring has as up.
func alive(n cluster.Node, is engine.Member) *hint.PermanentError {
	return &hint.PermanentError{Reason: fmt.Sprintf("%s is not dead: the ring sees it as %s", n.Name, named(is)),
		Advice: "to remove a live node: cql/remove-node -i node=" + n.Name + "; to replace it right away, stop it first: cql/drain -i node=" + n.Name +
			". If this run has begun, end it before that: plimsoll runbook cancel RUN --undo"}
}

func (j *join) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	r, err := ringOf(ctx, on)
	if err != nil {
		return nil, err
	}
	n, err := on.Node(ctx, j.Node)
	if err != nil {
		return nil, err
	}
	before, err := r.view(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	dead, err := j.dead(ctx, on, before)
	if err != nil {
		return nil, err
	}
	if n.Server == nil && before.member(n) == nil {
		return nil, byHand(n, dead)
	}
	if err := j.launch(ctx, n, dead); err != nil {
		return nil, err
	}
	return j.follow(ctx, r, n, dead, before, c)
}

// launch starts the server, with the dead node's address if it takes its place. One that only a person can start runs already.
func (j *join) launch(ctx context.Context, n cluster.Node, dead string) error {
	if n.Server == nil {
		return nil
	}
	running, err := n.Server.Running(ctx)
	if err != nil || running {
		return err
	}
	if s, ok := cluster.As[cluster.Assignable](n.Server); ok {
		if err := equip(ctx, s, dead); err != nil {
			return fmt.Errorf("set the join options of node %s: %w", n.Name, err)
		}
	} else if dead != "" {
		return &hint.PermanentError{Reason: "Plimsoll does not know how to give node " + n.Name + " a setting for its first start",
			Advice: "start it by hand with -D" + replaceSetting + "=" + dead + ", then plimsoll runbook resume RUN"}
	}
	if s, ok := cluster.As[cluster.Joining](n.Server); ok {
		return s.Launch(ctx)
	}
	return n.Server.Start(ctx)
}

// equip gives a server what it needs to join at its next start, whether it is the first or not.
func equip(ctx context.Context, s cluster.Assignable, dead string) error {
	settings, err := s.Assigned(ctx)
	if err != nil {
		return err
	}
	settings = maps.Clone(settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings[anewSetting] = "true"
	if dead != "" {
		settings[replaceSetting] = dead
	}
	return s.Assign(ctx, settings)
}

// unequip takes from a server what equip gave it.
func unequip(ctx context.Context, s cluster.Assignable) error {
	settings, err := s.Assigned(ctx)
	if err != nil {
		return err
	}
	settings = maps.Clone(settings)
	delete(settings, anewSetting)
	delete(settings, replaceSetting)
	return s.Assign(ctx, settings)
}

// byHand refuses to begin with a server that only a person can start.
func byHand(n cluster.Node, dead string) error {
	with := "the default auto_bootstrap (true), this ring's cluster_name, and another member as its seed"
	if dead != "" {
		with += ", with -D" + replaceSetting + "=" + dead
	}
	return &hint.PermanentError{Reason: "Plimsoll does not know how to start the server of node " + n.Name,
		Advice: "start it by hand, with an empty data folder: " + with + ". When nodetool status shows it as UJ, plimsoll runbook resume RUN waits until it is UN"}
}

// follow waits until the ring has the node, and tells how much has been streamed.
func (j *join) follow(ctx context.Context, r *ring, n cluster.Node, dead string, before view, c action.Call) (action.Facts, error) {
	c.Progress(0, "starting")
	seen, sent := watching(), flow{}
	for troubles := []string{}; ; {
		v, err := r.await(ctx, n.Name, c)
		if err != nil {
			return nil, err
		}
		is := v.member(n)
		if is != nil {
			if err := before.misplaced(n, is.DataCentre, before.at(dead)); err != nil {
				return nil, err
			}
		}
		if is != nil && j.done(v, is, dead) {
			sent.told(ctx, v, c, "it has joined") // streams that have just ended are told of still
			f := action.Facts{"host_id": is.Host, "address": host(is.Address), "data_centre": is.DataCentre, "streamed_bytes": sent.total}
			if len(troubles) > 0 {
				f[action.TroublesKey] = troubles
			}
			return f, nil
		}
		ended, err := seen.ended(ctx, v, n)
		if err != nil {
			return nil, err
		}
		if ended != "" {
			if err := j.revive(ctx, n, dead, ended, len(troubles)); err != nil {
				return nil, err
			}
			troubles = append(troubles, ended+"; it was started again")
			c.Progress(-1, troubles[len(troubles)-1])
			continue
		}
		sent.told(ctx, v, c, "starting")
		if err := poll.Rest(ctx, often); err != nil {
			return nil, err
		}
	}
}

// revivals is how often a server that ends while it joins is started again. One that saw another as down for a moment ends, and
// goes on with what it had.
const revivals = 2

// revive starts a server again that ended while it joined, or whose streams failed. What keeps it from starting is what ended it,
// most often.
func (j *join) revive(ctx context.Context, n cluster.Node, dead, ended string, before int) error {
	if n.Server == nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("node %s: %s", n.Name, ended),
			Advice: "the ring serves as before, without it. Its log says why; fix that, stop the node if it runs, and start it again with -D" + anewSetting + "=true; then plimsoll runbook resume RUN, or plimsoll runbook cancel RUN --undo"}
	}
	err := errors.New(ended)
	if before == revivals {
		err = fmt.Errorf("%w, %d times", err, revivals+1)
	} else if restart := j.restart(ctx, n, dead); restart == nil {
		return nil
	} else if ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", err, restart)
	}
	return fmt.Errorf("node %s: %w; the ring serves as before. Fix the cause, then plimsoll runbook resume RUN, or plimsoll runbook cancel RUN --undo", n.Name, err)
}

// restart starts a server that ended, and waits until it serves or says why it cannot; or, of one that runs and joins no more,
// begins to join anew.
func (j *join) restart(ctx context.Context, n cluster.Node, dead string) error {
	running, err := n.Server.Running(ctx)
	if err != nil {
		return err
	}
	if running {
		if err := n.Server.Stop(ctx); err != nil {
			return err
		}
		return j.launch(ctx, n, dead)
	}
	if s, ok := cluster.As[cluster.Assignable](n.Server); ok {
		if err := equip(ctx, s, dead); err != nil {
			return err
		}
	}
	return n.Server.Start(ctx)
}

func (j *join) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	f, err := j.Check(ctx, on)
	if err != nil {
		return err
	}
	if f.State != action.Satisfied {
		return fmt.Errorf("the ring sees node %s as %v", j.Node, f.Observed["state"])
	}
	return nil
}
