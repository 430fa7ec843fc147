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

// WithData puts into the hint of an error about the data of a workload which database and workload it is: words are those flags of
// plimsoll load, as one types them. Other errors stay as they are.
func WithData(err error, words string) error {
	var present *PresentError
	var absent *AbsentError
	switch {
	case errors.As(err, &present):
		return hint.With(err, present.Hint()+" "+words)
	case errors.As(err, &absent):
		return hint.With(err, absent.Hint()+" "+words)
	}
	return err
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
