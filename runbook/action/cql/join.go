package cql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

var joinAction = action.Action{
	Name: "cql.join", Version: 1,
	About: "Starts an empty node, which takes its ranges from the others or, with replaces, those of a dead one; and waits until the ring has it as a normal member.",
	New:   func() action.Task { return &join{} },
}

// replaceSetting is the property with which a node takes the place of a dead one at its first start.
const replaceSetting = "cassandra.replace_address_first_boot"

type join struct {
	Node     string `yaml:"node,required" doc:"The empty node."`
	Replaces string `yaml:"replaces" doc:"The dead node whose place it takes. Default: none, the ring grows."`
}

var (
	_ action.Undoer   = (*join)(nil)
	_ action.Verifier = (*join)(nil)
)

// Nature says repeatable: a node whose bootstrap was interrupted goes on with it when it is started again.
func (j *join) Nature() action.Nature {
	return action.Nature{Effect: action.Reversible, Repeatable: true}
}

func (j *join) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	r, err := ringOf(ctx, on)
	if err != nil {
		return action.Finding{}, err
	}
	n, err := on.Node(ctx, j.Node)
	if err != nil {
		return action.Finding{}, err
	}
	v, err := r.view(ctx, n.Name)
	if err != nil {
		return action.Finding{}, err
	}
	f := action.Finding{State: action.Needed, Observed: action.Facts{"members": len(v.Members)}, Intended: action.Facts{"state": "UN"}}
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
	center, err := centerOf(ctx, n)
	if err != nil {
		return f, err
	}
	if err := v.misplaced(n, center, v.at(dead)); err != nil {
		return f, err
	}
	return f, holds(ctx, n, v.share(center, v.at(dead)))
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
func (j *join) dead(ctx context.Context, on *action.Site, v view) (string, error) {
	if j.Replaces == "" {
		return "", nil
	}
	n, err := on.Node(ctx, j.Replaces)
	if err != nil {
		return "", err
	}
	if is := v.member(n); is != nil && is.Up {
		return "", &action.Refusal{Reason: fmt.Sprintf("%s is not dead: the ring has it as %s", n.Name, named(*is)),
			Advice: "a node that lives is taken out with cql/remove-node; one that should go at once is stopped first"}
	}
	return host(n.Target.Addresses[0]), nil
}

func (j *join) Act(ctx context.Context, on *action.Site, c action.Call) (action.Facts, error) {
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
	if err := j.launch(ctx, n, dead); err != nil {
		return nil, err
	}
	return j.follow(ctx, r, n, dead, before, c)
}

// launch starts the server, with the dead node's address if it takes its place.
func (j *join) launch(ctx context.Context, n action.Node, dead string) error {
	running, err := n.Server.Running(ctx)
	if err != nil || running {
		return err
	}
	if dead != "" {
		s, ok := n.Server.(action.Assignable)
		if !ok {
			return &action.Refusal{Reason: "it is not known how to give node " + n.Name + " a setting for its first start",
				Advice: "start it by hand with -D" + replaceSetting + "=" + dead + ", and resume"}
		}
		settings, err := s.Assigned(ctx)
		if err != nil {
			return err
		}
		settings = maps.Clone(settings)
		if settings == nil {
			settings = map[string]string{}
		}
		settings[replaceSetting] = dead
		if err := s.Assign(ctx, settings); err != nil {
			return err
		}
	}
	if s, ok := n.Server.(action.Joining); ok {
		return s.Launch(ctx)
	}
	return n.Server.Start(ctx)
}

// follow waits until the ring has the node, and tells how much has been streamed.
func (j *join) follow(ctx context.Context, r *ring, n action.Node, dead string, before view, c action.Call) (action.Facts, error) {
	c.Progress(0, "starting")
	for revived := 0; ; {
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
			return action.Facts{"host_id": is.Host, "address": host(is.Address), "data_centre": is.DataCentre}, nil
		}
		running, err := n.Server.Running(ctx)
		if err != nil {
			return nil, err
		}
		if !running {
			if err := j.revive(ctx, n, revived); err != nil {
				return nil, err
			}
			revived++
			c.Progress(-1, "its server ended while it joined, and was started again")
			continue
		}
		v.told(ctx, c, "starting")
		if err := action.Rest(ctx, often); err != nil {
			return nil, err
		}
	}
}

// revivals is how often a server that ends while it joins is started again. One that saw another as down for a moment ends, and
// goes on with what it had.
const revivals = 2

// revive starts a server that ended while it joined. What keeps it from starting is what ended it, most often.
func (j *join) revive(ctx context.Context, n action.Node, before int) error {
	err := errors.New("its server ended while it joined")
	if before == revivals {
		err = fmt.Errorf("%w, %d times", err, revivals+1)
	} else if restart := n.Server.Start(ctx); restart == nil {
		return nil
	} else if ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", err, restart)
	}
	return fmt.Errorf("node %s: %w; the ring serves as before. Mend the cause and resume, or cancel --undo", n.Name, err)
}

func (j *join) Verify(ctx context.Context, on *action.Site, _ action.Facts) error {
	f, err := j.Check(ctx, on)
	if err != nil {
		return err
	}
	if f.State != action.Satisfied {
		return fmt.Errorf("the ring has node %s as %v", j.Node, f.Observed["state"])
	}
	return nil
}

// Undo takes the node out again: a member gives its ranges back, one that never became a member is stopped. What took the
// place of a dead node stays: the dead one's ranges have no other owner.
func (j *join) Undo(ctx context.Context, on *action.Site, c action.Call) error {
	n, err := on.Node(ctx, j.Node)
	if errors.Is(err, action.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return err
	}
	v, err := r.view(ctx, n.Name)
	if err != nil {
		return err
	}
	if is := v.member(n); is != nil && is.Part != engine.Joining && is.Part != engine.Replacing {
		return j.takeOut(ctx, r, n, c)
	}
	if err := n.Server.Stop(ctx); err != nil {
		return err
	}
	return j.forgotten(ctx, r, n, c)
}

// takeOut has a member give its ranges back.
func (j *join) takeOut(ctx context.Context, r *ring, n action.Node, c action.Call) error {
	if j.Replaces != "" {
		return &action.Refusal{Reason: fmt.Sprintf("node %s has the ranges of %s now, and they have no other owner", n.Name, j.Replaces),
			Advice: "let it stay; cql/remove-node takes it out when the others should have them"}
	}
	running, err := n.Server.Running(ctx)
	if err == nil && !running {
		err = n.Server.Start(ctx)
	}
	if err != nil {
		return err
	}
	return leave(ctx, r, n, c)
}

// forgetting is how long a ring may take to forget a node that was stopped while it joined. Of a delay of thirty seconds,
// Cassandra's own (cassandra.ring_delay_ms), it takes one or two.
const forgetting = 3 * time.Minute

// forgotten waits until the others no longer know a node that was stopped. One that became a member just before it stopped
// is taken out as such.
func (j *join) forgotten(ctx context.Context, r *ring, n action.Node, c action.Call) error {
	limited, cancel := context.WithTimeout(ctx, forgetting)
	defer cancel()
	for {
		v, err := r.view(limited, n.Name)
		if err != nil {
			return err
		}
		is := v.member(n)
		if is == nil {
			return nil
		}
		if is.Part != engine.Joining && is.Part != engine.Replacing {
			return j.takeOut(ctx, r, n, c)
		}
		c.Progress(-1, "the ring still has it as "+is.Code())
		if err := action.Rest(limited, often); err != nil {
			return fmt.Errorf("%w: node %s is stopped, and the ring still has it as %s", err, n.Name, is.Code())
		}
	}
}
