package rds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

func auroraServe(at api) action.Action {
	return action.Action{
		Name: "aurora.serve", Version: 1,
		About: "Adds a reader to the custom endpoints of its Aurora cluster and sets its promotion tier. Warm the reader before.",
		New:   func() action.Task { return &serve{onInstance: onInstance{api: at}, Tier: 1} },
	}
}

type serve struct {
	onInstance
	Endpoints []string `yaml:"endpoints" doc:"Custom endpoints with a fixed list of members that it joins too. It joins those without such a list always, as it would have by itself."`
	Tier      int      `yaml:"tier" doc:"Its promotion tier, 0 to 15: the lowest takes over first. Default 1, as AWS's."`
}

var (
	_ action.Undoer         = (*serve)(nil)
	_ action.Validator      = (*serve)(nil)
	_ action.InFlightWaiter = (*serve)(nil)
)

func (a *serve) Validate() error {
	if a.Tier < 0 || a.Tier > aws.LastTier {
		return fmt.Errorf("tier is %d, expected 0 to %d", a.Tier, aws.LastTier)
	}
	return nil
}

func (a *serve) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// place is a reader, and the endpoints that are to lead to it.
type place struct {
	r  *aws.RDS
	is aws.Instance
	in []aws.Endpoint
}

func (a *serve) look(ctx context.Context, on *cluster.Cluster) (p place, err error) {
	var of aws.Aurora
	if p.r, of, err = a.api.aurora(ctx, on); err != nil {
		return p, err
	}
	if _, p.is, err = a.find(ctx, on); err != nil {
		return p, err
	}
	if !slices.Contains(of.Members, p.is.ID) {
		return p, &hint.PermanentError{Reason: fmt.Sprintf("instance %s is not a member of Aurora cluster %s", p.is.ID, of.ID)}
	}
	all, err := p.r.Endpoints(ctx, of.ID)
	if err != nil {
		return p, err
	}
	for _, name := range a.Endpoints {
		if !slices.ContainsFunc(all, func(e aws.Endpoint) bool { return e.ID == name }) {
			return p, &hint.PermanentError{Reason: fmt.Sprintf("cluster %s has no custom endpoint %s", of.ID, name), Advice: "it has " + names(all)}
		}
	}
	p.in = slices.DeleteFunc(all, func(e aws.Endpoint) bool { return e.Fixed() && !slices.Contains(a.Endpoints, e.ID) })
	return p, nil
}

func (a *serve) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	p, err := a.look(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	led := names(slices.DeleteFunc(slices.Clone(p.in), func(e aws.Endpoint) bool { return !e.Has(p.is.ID) }))
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"reader": p.is.ID, "endpoints": led, "tier": strconv.Itoa(p.is.Tier)},
		Intended: action.Facts{"reader": p.is.ID, "endpoints": names(p.in), "tier": strconv.Itoa(a.Tier)},
	}
	if led == names(p.in) && p.is.Tier == a.Tier {
		f.State = action.Satisfied
	}
	return f, foreign(p.is)
}

func (a *serve) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	p, err := a.look(ctx, on)
	if err != nil {
		return nil, err
	}
	if err := a.turn(ctx, p, c, a.Tier, func(aws.Endpoint) bool { return true }); err != nil {
		return nil, err
	}
	return action.Facts{"endpoints": names(p.in)}, nil
}

// turn has endpoints lead to the reader or not, and gives it a tier, until several looks in a row show it.
func (a *serve) turn(ctx context.Context, p place, c action.Call, tier int, in func(aws.Endpoint) bool) error {
	return a.api.look(ctx, p.r, c, func(ctx context.Context) (bool, string, error) {
		now, err := p.r.Instance(ctx, p.is.ID)
		if err == nil {
			err = now.Usable()
		}
		if err != nil {
			return false, "", err
		}
		all, err := p.r.Endpoints(ctx, now.Cluster)
		if err != nil {
			return false, "", err
		}
		var waits []string
		for _, e := range all {
			ours := slices.ContainsFunc(p.in, func(wanted aws.Endpoint) bool { return wanted.ID == e.ID })
			if !ours || e.Has(now.ID) == in(e) {
				continue
			}
			waits = append(waits, "endpoint "+e.ID)
			err = errors.Join(err, p.r.Admit(ctx, e, now.ID, in(e)))
		}
		if now.Tier != tier {
			waits = append(waits, fmt.Sprintf("promotion tier %d", tier))
			if other := foreign(now); other != nil { // it came since the check
				return false, "", errors.Join(err, other)
			}
			err = errors.Join(err, p.r.SetTier(ctx, now.ID, tier))
		}
		return len(waits) == 0, strings.Join(waits, " and "), err
	})
}

// Undo takes the reader out of the endpoints that did not lead to it before, and gives it its previous tier.
func (a *serve) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	p, err := a.look(ctx, on)
	if err != nil {
		return err
	}
	led, _ := c.Before["endpoints"].(string)
	before, _ := c.Before["tier"].(string)
	tier, err := strconv.Atoi(before)
	if err != nil {
		return fmt.Errorf("the previous promotion tier was not recorded: %w", err)
	}
	return a.turn(ctx, p, c, tier, func(e aws.Endpoint) bool { return slices.Contains(strings.Split(led, ", "), e.ID) })
}

// AwaitInFlight has nothing to wait for: the check sees what is left, and all of it may be asked for again.
func (a *serve) AwaitInFlight(context.Context, *cluster.Cluster, action.Call) error { return nil }

// none is how an empty list stands in what was observed.
const none = "none"

// names lists endpoints for a person.
func names(all []aws.Endpoint) string {
	if len(all) == 0 {
		return none
	}
	var out []string
	for _, e := range all {
		out = append(out, e.ID)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
