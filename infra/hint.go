package infra

// Advise adds to an error what a person can do about it. Who shows errors finds it by the method Hint.
func Advise(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &advised{err, hint}
}

type advised struct {
	error
	hint string
}

func (a *advised) Hint() string  { return a.hint }
func (a *advised) Unwrap() error { return a.error }
