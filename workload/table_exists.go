package workload

import (
	"context"
	"errors"
	"fmt"

	"plimsoll/engine"
	"plimsoll/hint"
)

// Exists tells whether there is a table of that name.
func Exists(ctx context.Context, session engine.Session, table string) (bool, error) {
	err := session.Exec(ctx, "SELECT * FROM "+table+" LIMIT 1", nil)
	if err != nil && engine.ClassOf(err) == engine.Missing {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for table %s: %w", table, err)
	}
	return true, nil
}

// Typed is a workload's data in a database, as flags of plimsoll load name it.
type Typed struct {
	Target, Workload string
	Parameters       []string // each NAME=VALUE
	Password         []string // the flag that says where it is found, and its value; none: it needs none
}

// Explain makes a whole command of the hint of an error about the data. Other errors stay as they are.
func (t Typed) Explain(err error) error {
	var present *PresentError
	var absent *AbsentError
	switch {
	case errors.As(err, &present):
		return hint.With(err, present.Hint()+t.flags())
	case errors.As(err, &absent):
		return hint.With(err, absent.Hint()+t.flags())
	}
	return err
}

// Cleanup is the command that removes the data, whole or in part.
func (t Typed) Cleanup() string { return "plimsoll load cleanup" + t.flags() }

func (t Typed) flags() string {
	text := hint.Flags("--target", t.Target) + hint.Flags("--workload", t.Workload) + hint.Flags("--param", t.Parameters...)
	if len(t.Password) == 2 {
		text += hint.Flags(t.Password[0], t.Password[1])
	}
	return text
}

// PresentError refuses to make tables where there is one of that name.
type PresentError struct{ Table string }

func (e *PresentError) Error() string { return "there is a table " + e.Table + " already" }

// Hint says what to do about it.
func (e *PresentError) Hint() string {
	return "run the load on the existing data, or remove it first: plimsoll load cleanup"
}

// AbsentError says that a workload's data is not there, or not all of it.
type AbsentError struct{ What string }

func (e *AbsentError) Error() string { return e.What }

// Hint says what to do about it.
func (e *AbsentError) Hint() string { return "create the data first: plimsoll load prepare" }
