package action

import "fmt"

// Remains is how an undo ends that has undone its step but for something that it left as it is: what somebody set since, or what only a later
// change can bring back. The undo of the steps before it goes on, and the run says what remains until it is fixed.
type Remains struct {
	What string // such as: the value of max_connections of node n1
	Why  string // and what to do about it
}

func (r *Remains) Error() string { return r.What + ": " + r.Why }

// RemainsOf is what an undo has left, of its error; nil when there is another error in it: then the step is not undone.
func RemainsOf(err error) *Remains {
	for err != nil {
		switch e := err.(type) { //nolint:errorlint // errors.As would find one beside an error that must not be passed over
		case *Remains:
			return e
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			if len(e.Unwrap()) != 1 {
				return nil
			}
			err = e.Unwrap()[0]
		default:
			return nil
		}
	}
	return nil
}

// ChangedSince is what remains of an undo that does not put back a value, since it is neither what the run left nor what was there before.
func ChangedSince(what, now, left, before string) error {
	return &Remains{What: what, Why: fmt.Sprintf("it is %s now, and the undo left it so: this run changed it to %s, and it was %s before; somebody has changed it since, or a restart did. Change it to %s yourself to have the previous value back",
		now, left, before, before)}
}
