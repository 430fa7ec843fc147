package execute

import (
	"plimsoll/runbook/journal"
)

// mayGoOn looks whether this release can and may do what a session was begun for, and says by which versions of its actions it goes on,
// if they are others than before.
func (r *runner) mayGoOn(o *journal.Command, e *journal.Event) error {
	if o.Do == journal.DoCancel && !o.Undo { // which uses nothing
		o.Changed = ""
		return nil
	}
	if err := r.state.Unfit(); err != nil {
		return err
	}
	all := r.state.ChangedActions(*o)
	if len(all) == 0 {
		o.Changed = ""
		return nil
	}
	if o.Changed == "" || openedBefore(r) { // what was said before was said of others
		return &journal.ChangedError{Run: r.journal.Run(), Actions: all}
	}
	e.Versions, e.Reason = r.state.Book.Versions(), journal.ListChanged(all)
	return nil
}
