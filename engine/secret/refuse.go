package secret

import (
	"fmt"

	"plimsoll/hint"
)

// Refuse refuses to change a variable that holds a secret, by its name or by one of its values: a run keeps and shows the former value and the new
// one. Which says which value it is: "the given value". The refusal is a hint.PermanentError, and the value is not in it.
func Refuse(variable, which, value string) error {
	const advice = "set it by hand, in a client whose history is not kept, or write it into the server's configuration"
	switch {
	case Is(variable):
		return &hint.PermanentError{Reason: variable + " holds a secret: its value would be kept in the run's record and shown on its pages", Advice: advice}
	case In(value):
		return &hint.PermanentError{Reason: fmt.Sprintf("%s of %s may hold a secret: it would be kept in the run's record and shown on its pages", which, variable), Advice: advice}
	}
	return nil
}
