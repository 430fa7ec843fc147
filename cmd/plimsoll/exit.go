package main

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/analyze"
	"plimsoll/internal/document"
)

// The exit codes. They are a promise to scripts and are listed in docs/exit-codes.md.
const (
	exitDone         = 0 // done, or the verdict is PASS
	exitTrouble      = 1
	exitBadInput     = 2
	exitFail         = 3
	exitInconclusive = 4
	exitInvalid      = 5
	exitInterrupted  = 130
)

// verdictExit is the code of a verdict.
func verdictExit(a analyze.Answer) int {
	return map[analyze.Answer]int{
		analyze.Pass: exitDone, analyze.Fail: exitFail, analyze.Inconclusive: exitInconclusive, analyze.Invalid: exitInvalid,
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
			fmt.Fprintln(c.err, "plimsoll:", p)
		}
		return exitBadInput
	case errors.As(err, &problem):
		fmt.Fprintln(c.err, "plimsoll:", problem)
		return exitBadInput
	case errors.As(err, &usage):
		fmt.Fprintln(c.err, "plimsoll:", usage.text)
		if usage.hint != "" {
			fmt.Fprintln(c.err, "hint:", usage.hint)
		}
		return exitBadInput
	}
	fmt.Fprintln(c.err, "plimsoll:", err)
	if errors.As(err, &advice) && advice.Hint() != "" {
		fmt.Fprintln(c.err, "hint:", advice.Hint())
	}
	return exitTrouble
}
