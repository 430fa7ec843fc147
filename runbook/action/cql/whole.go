package cql

import (
	"context"
	"fmt"

	"plimsoll/engine"
	"plimsoll/runbook/action"
)

var wholeAction = action.Action{
	Name: "cql.wait-whole", Version: 1,
	About: "Waits until every member is up and normal, all have one schema, nothing is streamed and no hints are left to deliver.",
	New:   func() action.Task { return &whole{} },
}

type whole struct {
	But string `yaml:"but" doc:"A node that may be down, because it is the one that is to be replaced. Default: none."`
}

func (w *whole) Nature() action.Nature {
	return action.Nature{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (w *whole) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	return w.on(on).Check(ctx, action.Facts{"ring": "whole"})
}

func (w *whole) Act(ctx context.Context, on *action.Site, c action.Call) (action.Facts, error) {
	return nil, w.on(on).Await(ctx, c, often)
}

// Verify has nothing to add: it was whole, and may have hints to deliver again a moment later.
func (w *whole) Verify(context.Context, *action.Site, action.Facts) error { return nil }

func (w *whole) on(s *action.Site) action.Missing {
	return func(ctx context.Context) (string, error) { return w.missing(ctx, s) }
}

// missing says what is not yet as it should be; empty if all is.
func (w *whole) missing(ctx context.Context, on *action.Site) (string, error) {
	r, err := ringOf(ctx, on)
	if err != nil {
		return "", err
	}
	v, err := r.view(ctx, w.But)
	if err != nil {
		return "", err
	}
	var but *engine.Member
	if w.But != "" {
		n, err := on.Node(ctx, w.But)
		if err != nil {
			return "", err
		}
		but = v.member(n)
	}
	if unfit := v.unfit(but); len(unfit) > 0 {
		said, _ := v.troubles(ctx, unfit)
		return said, nil
	}
	if reason := v.disagreement(); reason != "" {
		return reason, nil
	}
	if _, _, transfers, err := v.moving(ctx); err != nil || transfers > 0 {
		return fmt.Sprintf("%d streams between nodes", transfers), err
	}
	hints, err := v.db.Hints(ctx)
	if err != nil {
		return "", err
	}
	for _, h := range hints {
		if but == nil || h.For != but.Host {
			return host(h.Node) + " keeps hints for others", nil
		}
	}
	return "", nil
}
