package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"plimsoll/analyze"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/runbook/plan"
)

func TestEveryErrorHasItsCodeAndItsHint(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		says string
	}{
		"nothing":       {nil, exitDone, ""},
		"a pass":        {withCode{verdictExit(analyze.Pass)}, exitDone, ""},
		"a fail":        {withCode{verdictExit(analyze.Fail)}, exitFail, ""},
		"not told":      {withCode{verdictExit(analyze.Inconclusive)}, exitInconclusive, ""},
		"invalid":       {withCode{verdictExit(analyze.Invalid)}, exitInvalid, ""},
		"trouble":       {errors.New("no luck"), exitTrouble, "plimsoll: no luck\n"},
		"advice":        {fmt.Errorf("connect: %w", hint.With(errors.New("no luck"), "try again")), exitTrouble, "plimsoll: connect: no luck\nhint: try again\n"},
		"a full disk":   {fmt.Errorf("write series: %w", syscall.ENOSPC), exitTrouble, "plimsoll: write series: no space left on device\nhint: the disk is full"},
		"an interrupt":  {fmt.Errorf("load: %w", context.Canceled), exitInterrupted, "interrupted"},
		"a bad file":    {document.Problems{{File: "t.yaml", Line: 2, Column: 3, Text: "no"}}, exitBadInput, "plimsoll: t.yaml:2:3: no\n"},
		"a bad command": {usageError{text: "what?", hint: "that"}, exitBadInput, "plimsoll: what?\nhint: that\n"},
		"a bad target":  {fmt.Errorf("connect: %w", &engine.TargetError{Err: errors.New("unknown option")}), exitBadInput, "plimsoll: connect: unknown option\n"},
		"its file":      {&engine.TargetError{Err: &fs.PathError{Op: "open", Path: "ca.pem", Err: fs.ErrNotExist}}, exitTrouble, "plimsoll: open ca.pem"},
		"no such node":  {&plan.InputError{Input: "to", Err: fmt.Errorf("cluster c, node %q: %w", "n9", cluster.ErrNoNode)}, exitBadInput, "plimsoll: input to: cluster c, node \"n9\": no such node\n"},
		"a silent node": {&plan.InputError{Input: "to", Err: errors.New("list the nodes of c: timeout")}, exitTrouble, "timeout"},
		"a bad cluster": {badCluster(t), exitBadInput, "hint: lower-case letters"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			if code := tell(console{err: &said}, c.err); code != c.code || !strings.Contains(said.String(), c.says) {
				t.Errorf("code %d, want %d; said %q, want %q", code, c.code, said.String(), c.says)
			}
		})
	}
}

func badCluster(t *testing.T) error {
	_, err := lab.Up(t.Context(), lab.Spec{Name: "../x", Product: "mariadb"}, lab.Deps{Home: "/nowhere", Cache: "/nowhere"})
	return err
}
