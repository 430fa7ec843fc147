package main

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
	"plimsoll/runbook/plan"
)

// The exit codes. They are a promise to scripts and are listed in docs/exit-codes.md.
const (
	exitDone         = 0 // done, or the verdict is PASS
	exitTrouble      = 1
	exitBadInput     = 2
	exitFail         = 3
	exitInconclusive = 4
	exitInvalid      = 5
	exitRemainders   = 6 // done, but for targets that were left out
	exitInterrupted  = 130
)

// verdictExit is the code of a verdict.
func verdictExit(a analyze.Answer) int {
	return map[analyze.Answer]int{
		analyze.Pass: exitDone, analyze.Fail: exitFail, analyze.Inconclusive: exitInconclusive, analyze.Invalid: exitInvalid,
		analyze.CouldNotRun: exitTrouble,
	}[a]
}

// withCode is an outcome that is no trouble and yet not 0: a verdict.
type withCode struct{ code int }

func (w withCode) Error() string { return fmt.Sprintf("exit code %d", w.code) }

// usageError is a command line that does not make sense.
type usageError struct {
	text, hint string
}

func (u usageError) Error() string { return u.text }

// hinted is an error with advice.
type hinted interface{ Hint() string }

// tell says to the user what went wrong and returns the exit code.
func tell(c console, err error) int {
	var code withCode
	var usage usageError
	var problems document.Problems
	var problem *document.Problem
	var input lab.InputError
	var target *engine.TargetError
	var advice hinted
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return code.code
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(c.err, "plimsoll: interrupted")
		return exitInterrupted
	case errors.As(err, &problems):
		for _, p := range problems {
			complain(c, "plimsoll: "+p.Error())
		}
		return exitBadInput
	case errors.As(err, &problem):
		complain(c, "plimsoll: "+problem.Error())
		return exitBadInput
	case errors.As(err, &usage):
		complain(c, "plimsoll: "+usage.text)
		if usage.hint != "" {
			complain(c, "hint: "+usage.hint)
		}
		return exitBadInput
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
		return exitBadInput
	}
	if errors.As(err, &input) || errors.As(err, &target) && !errors.As(err, &unread) {
		return exitBadInput
	}
	return exitTrouble
}

// complain writes a message, on a terminal broken between words.
func complain(c console, text string) {
	if width, person := terminal(c.err); person {
		text = wrap(text, width, "  ")
	}
	fmt.Fprintln(c.err, text)
}
