// Package hint holds errors that say what to do.
package hint

// With adds to an error what a person can do about it. Who shows errors finds it by the method Hint.
func With(err error, text string) error {
	if err == nil {
		return nil
	}
	return &advised{err, text}
}

type advised struct {
	error
	text string
}

func (a *advised) Hint() string  { return a.text }
func (a *advised) Unwrap() error { return a.error }
