package rds_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

// What a person has changed again since a run changed it is left as it is when the run is undone.
func TestAnUndoLeavesWhatWasChangedSince(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		action, with, asked, now, says string
		change                         func(ctx context.Context, r *aws.RDS, to string) error
	}{
		"a class": {
			"rds.modify-class", "{node: db1, class: db.r6g.large}", "ModifyDBInstance", "db.r6g.4xlarge", "the class of instance orders: it is db.r6g.4xlarge now",
			func(ctx context.Context, r *aws.RDS, to string) error {
				if err := r.Modify(ctx, "orders", aws.Modification{Class: to}); err != nil {
					return err
				}
				return aws.Await(ctx, 2*time.Millisecond, func(string) {}, func(ctx context.Context) (bool, string, error) {
					i, err := r.Instance(ctx, "orders")
					return i.Class == to && i.Settled(), "its class", err
				})
			},
		},
		"a parameter": {
			"rds.set-parameter", `{node: db1, name: innodb_buffer_pool_instances, value: "4"}`, "ModifyDBParameterGroup", "2", "innodb_buffer_pool_instances of parameter group own: it is 2 now",
			func(ctx context.Context, r *aws.RDS, to string) error {
				p, err := r.Parameter(ctx, "own", "innodb_buffer_pool_instances")
				if err != nil {
					return err
				}
				return r.SetParameter(ctx, "own", p, to)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, engine.Target{}, nil)
			w.ParameterGroups.Add("own", "innodb_buffer_pool_instances", "8", true)
			task, r := w.bind(t, c.action, c.with), w.open(t)
			found, err := task.Check(t.Context(), w.on)
			if err != nil {
				t.Fatal(err)
			}
			call := action.Call{Token: "one", Before: found.Observed, Progress: func(float64, string) {}}
			if _, err := task.Act(t.Context(), w.on, call); err != nil {
				t.Fatal(err)
			}
			if err := c.change(t.Context(), r, c.now); err != nil {
				t.Fatal(err)
			}
			asked := w.Asked(c.asked)
			err = task.(action.Undoer).Undo(t.Context(), w.on, call)
			if remains := action.RemainsOf(err); remains == nil || !strings.Contains(remains.Error(), c.says) || w.Asked(c.asked) != asked {
				t.Errorf("%v, asked %d times", err, w.Asked(c.asked)-asked)
			}
		})
	}
}

// An instance that has another parameter group by now is not changed: other instances may have that group, and this run never wrote to it.
func TestAnUndoDoesNotWriteToAParameterGroupThatTheRunNeverChanged(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.ParameterGroups.Add("own", "innodb_buffer_pool_instances", "8", true)
	w.ParameterGroups.Add("shared", "innodb_buffer_pool_instances", "4", true)
	task := w.bind(t, "rds.set-parameter", `{node: db1, name: innodb_buffer_pool_instances, value: "4"}`)
	found, err := task.Check(t.Context(), w.on)
	if err != nil {
		t.Fatal(err)
	}
	call := action.Call{Token: "one", Before: found.Observed, Progress: func(float64, string) {}}
	if _, err := task.Act(t.Context(), w.on, call); err != nil {
		t.Fatal(err)
	}
	i, _ := w.Instances.Shown("orders")
	i.Group = "shared"
	w.Instances.Add(i)
	asked := w.Asked("ModifyDBParameterGroup")
	var refused *hint.PermanentError
	if err := task.(action.Undoer).Undo(t.Context(), w.on, call); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "has parameter group shared now, and this run changed own") || w.Asked("ModifyDBParameterGroup") != asked {
		t.Errorf("%v, asked %d times", err, w.Asked("ModifyDBParameterGroup")-asked)
	}
}
