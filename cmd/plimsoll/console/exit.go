package console

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"plimsoll/analyze"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/plan"
)

// The exit codes. They are a promise to scripts and are listed in docs/exit-codes.md.
const (
	ExitDone         = 0 // done, or the verdict is PASS
	ExitTrouble      = 1
	ExitBadInput     = 2
	ExitFail         = 3
	ExitInconclusive = 4
	ExitInvalid      = 5
	ExitRemainders   = 6 // done or undone, but for what was left out
	ExitInterrupted  = 130
)

// VerdictExit is the code of a verdict.
func VerdictExit(a analyze.Answer) int {
	return map[analyze.Answer]int{
		analyze.Pass: ExitDone, analyze.Fail: ExitFail, analyze.Inconclusive: ExitInconclusive, analyze.Invalid: ExitInvalid,
		analyze.CouldNotRun: ExitTrouble,
	}[a]
}

// WithCode is an outcome that is no trouble and yet not 0: a verdict.
type WithCode struct{ Code int }

func (w WithCode) Error() string { return fmt.Sprintf("exit code %d", w.Code) }

// UsageError is a command line that does not make sense.
type UsageError struct {
	Text, Hint string
}

func (u UsageError) Error() string { return u.Text }

// Hinted is an error with advice.
type Hinted interface{ Hint() string }

// Tell says to the user what went wrong and returns the exit code.
func Tell(c Streams, err error) int {
	var code WithCode
	var usage UsageError
	var problems document.Problems
	var problem *document.Problem
	var input lab.InputError
	var target *engine.TargetError
	var advice Hinted
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &code):
		return code.Code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.Err, "plimsoll: interrupted")
		return ExitInterrupted
	case errors.As(err, &problems):
		for _, p := range problems {
			complain(c, "plimsoll: "+p.Error())
		}
		if errors.As(err, &advice) && advice.Hint() != "" {
			complain(c, "hint: "+advice.Hint())
		}
		return ExitBadInput
	case errors.As(err, &problem):
		complain(c, "plimsoll: "+problem.Error())
		return ExitBadInput
	case errors.As(err, &usage):
		complain(c, "plimsoll: "+usage.Text)
		if usage.Hint != "" {
			complain(c, "hint: "+usage.Hint)
		}
		return ExitBadInput
	}
	complain(c, "plimsoll: "+err.Error())
	switch {
	case errors.As(err, &advice) && advice.Hint() != "":
		complain(c, "hint: "+advice.Hint())
	case errors.Is(err, syscall.ENOSPC):
		complain(c, "hint: the disk is full: free some space; everything written before that is kept")
	}
	var unread *fs.PathError
	if absent := (*plan.InputError)(nil); errors.As(err, &absent) && errors.Is(err, cluster.ErrNoNode) {
		return ExitBadInput
	}
	if impossible := (*journal.ImpossibleError)(nil); errors.As(err, &impossible) {
		return ExitBadInput
	}
	if errors.As(err, &input) || errors.As(err, &target) && !errors.As(err, &unread) {
		return ExitBadInput
	}
	return ExitTrouble
}

// complain writes a message, on a terminal broken between words.
func complain(c Streams, text string) {
	if width, isTerminal := Terminal(c.Err); isTerminal {
		text = wrap(text, width, "  ")
	}
	fmt.Fprintln(c.Err, text)
}
