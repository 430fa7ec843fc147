package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/secret"
)

// Undo puts back what the first check saw, on the server that it saw it on. A value that was changed since stays, and the other is put back.
func (v *variable) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	node, err := c.ActedOn(v.Node)
	if err != nil {
		return err
	}
	at := v.on(node)
	since, err := at.changedSince(ctx, on, c)
	if err != nil {
		return err
	}
	ours := func(fact string) bool {
		return !slices.ContainsFunc(since, func(s setSince) bool { return s.fact == fact })
	}
	if ours(valueFact) {
		if err := at.putBackValue(ctx, on, c); err != nil {
			return err
		}
		if err := at.putBackAlong(ctx, on, c, ours); err != nil {
			return err
		}
	}
	if ours(persistedFact) {
		if err := at.putBackPersisted(ctx, on, c); err != nil {
			return err
		}
	}
	return at.remains(since)
}

// The facts of a variable that are put back, each for itself, as are those of the variables that change along with it.
const (
	valueFact     = "value"
	persistedFact = "persisted"
)

// setSince is a value that was changed after the step had set it.
type setSince struct{ fact, now, left, before string }

// what says for people which value it is.
func (s setSince) what() string {
	switch s.fact {
	case valueFact:
		return "value"
	case persistedFact:
		return "persisted value"
	}
	return "value of " + s.fact
}

// of is the same, with the variable that the step sets.
func (s setSince) of(variable string) string {
	if s.fact == valueFact || s.fact == persistedFact {
		return s.what() + " of " + variable
	}
	return s.what()
}

// changedSince are the values that were changed since: what is there now is neither what the act left nor what was there before.
func (v *variable) changedSince(ctx context.Context, on *cluster.Cluster, c action.Call) ([]setSince, error) {
	if len(c.Output) == 0 { // the act did not end: nobody knows what it left
		return nil, nil
	}
	_, settings, err := v.open(ctx, on)
	if err != nil {
		return nil, err
	}
	shown, err := v.shown(ctx, on)
	if err != nil {
		return nil, err
	}
	var all []setSince
	for _, fact := range append([]string{valueFact, persistedFact}, changedAlong[variableName(v.Name)]...) {
		name := v.Name
		if fact != valueFact && fact != persistedFact {
			name = fact
		}
		before, noted := c.Before[fact].(string)
		left, told := c.Output[fact].(string)
		now, _ := shown[fact].(string)
		if noted && told && now != before && now != left &&
			!settings.SameValue(name, before, now) && !settings.SameValue(name, left, now) && (name != v.Name || !settings.SameValue(name, v.Value, now)) {
			all = append(all, setSince{fact, v.told(now), v.told(left), v.told(before)})
		}
	}
	return all, nil
}

// remains is how an undo ends that has left these as they are.
func (v *variable) remains(since []setSince) error {
	if len(since) == 0 {
		return nil
	}
	if len(since) == 1 {
		s := since[0]
		return action.ChangedSince(fmt.Sprintf("the %s of node %s", s.of(v.Name), v.Node), s.now, s.left, s.before)
	}
	var each []string
	for _, s := range since {
		each = append(each, fmt.Sprintf("the %s is %s; this run changed it to %s, and it was %s before", s.what(), s.now, s.left, s.before))
	}
	return &action.Remains{What: fmt.Sprintf("%s of node %s", v.Name, v.Node),
		Why: "somebody has changed it since, or a restart did, and the undo left it so: " + strings.Join(each, "; ")}
}

// told says in words that a value is kept nowhere, and of one that may be a secret no more than that.
func (v *variable) told(value string) string {
	switch {
	case value == notKept:
		return "unset"
	case secret.Of(variableName(v.Name), value):
		return "a value that may hold a secret"
	}
	return value
}

func (v *variable) putBackValue(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := c.Before[valueFact].(string)
	if !ok {
		return nil
	}
	_, settings, err := v.open(ctx, on)
	if err != nil {
		return err
	}
	now, err := settings.Setting(ctx, v.Name)
	if err != nil || settings.SameValue(v.Name, before, now) { // as when the server refused the act's value: it may refuse any
		return err
	}
	if err := v.mayOpen(ctx, on, c, before); err != nil {
		return err
	}
	return v.set(ctx, on, persistNo, before)
}

func (v *variable) putBackPersisted(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	before, ok := c.Before[persistedFact].(string)
	if !ok {
		return nil
	}
	if err := v.mayOpen(ctx, on, c, before); err != nil {
		return err
	}
	if before != notKept {
		return v.set(ctx, on, persistOnly, before)
	}
	db, _, err := v.open(ctx, on)
	if err != nil {
		return err
	}
	k, err := v.keeper(ctx, on, db)
	if err != nil {
		return err
	}
	return k.forget(ctx, variableName(v.Name))
}
