package aws

import "errors"

// StuckError is an instance in a state that only a person can end.
type StuckError struct{ Instance, Status string }

func (e *StuckError) Error() string { return "instance " + e.Instance + " is " + e.Status }

// Hint says what to do.
func (e *StuckError) Hint() string {
	return "check its events in the console, resolve that state, then plimsoll runbook resume RUN; Plimsoll has not started anything"
}

func asStuck(err error, into **StuckError) bool { return errors.As(err, into) }

// Usable returns a StuckError for an instance that waits for a person.
func (i Instance) Usable() error {
	if i.Stuck() {
		return &StuckError{i.ID, i.Status}
	}
	return nil
}
