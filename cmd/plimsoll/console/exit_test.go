package console

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
		"nothing":       {nil, ExitDone, ""},
		"a pass":        {WithCode{Code: VerdictExit(analyze.Pass)}, ExitDone, ""},
		"a fail":        {WithCode{Code: VerdictExit(analyze.Fail)}, ExitFail, ""},
		"not told":      {WithCode{Code: VerdictExit(analyze.Inconclusive)}, ExitInconclusive, ""},
		"invalid":       {WithCode{Code: VerdictExit(analyze.Invalid)}, ExitInvalid, ""},
		"trouble":       {errors.New("no luck"), ExitTrouble, "plimsoll: no luck\n"},
		"advice":        {fmt.Errorf("connect: %w", hint.With(errors.New("no luck"), "try again")), ExitTrouble, "plimsoll: connect: no luck\nhint: try again\n"},
		"a full disk":   {fmt.Errorf("write series: %w", syscall.ENOSPC), ExitTrouble, "plimsoll: write series: no space left on device\nhint: the disk is full"},
		"an interrupt":  {fmt.Errorf("load: %w", context.Canceled), ExitInterrupted, "interrupted"},
		"a bad file":    {document.Problems{{File: "t.yaml", Line: 2, Column: 3, Text: "no"}}, ExitBadInput, "plimsoll: t.yaml:2:3: no\n"},
		"a bad command": {UsageError{Text: "what?", Hint: "that"}, ExitBadInput, "plimsoll: what?\nhint: that\n"},
		"a bad target":  {fmt.Errorf("connect: %w", &engine.TargetError{Err: errors.New("unknown option")}), ExitBadInput, "plimsoll: connect: unknown option\n"},
		"its file":      {&engine.TargetError{Err: &fs.PathError{Op: "open", Path: "ca.pem", Err: fs.ErrNotExist}}, ExitTrouble, "plimsoll: open ca.pem"},
		"no such node":  {&plan.InputError{Input: "to", Err: fmt.Errorf("cluster c, node %q: %w", "n9", cluster.ErrNoNode)}, ExitBadInput, "plimsoll: input to: cluster c, node \"n9\": no such node\n"},
		"a silent node": {&plan.InputError{Input: "to", Err: errors.New("list the nodes of c: timeout")}, ExitTrouble, "timeout"},
		"a bad cluster": {badCluster(t), ExitBadInput, "cluster name \"../x\", expected lower-case letters"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			if code := Tell(Streams{Err: &said}, c.err); code != c.code || !strings.Contains(said.String(), c.says) {
				t.Errorf("code %d, want %d; said %q, want %q", code, c.code, said.String(), c.says)
			}
		})
	}
}

func badCluster(t *testing.T) error {
	_, err := lab.Up(t.Context(), lab.Spec{Name: "../x", Product: "mariadb"}, lab.Deps{Home: "/nowhere", Cache: "/nowhere"})
	return err
}
