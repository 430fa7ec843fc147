package hint

// PermanentError is an error that no retry can mend: the action declines, and says why and what to do.
type PermanentError struct {
	Reason, Advice string
	Err            error // what the reason says in words; nil where that is all
	Whole          bool  // it refuses the whole run: what its other steps would do does not matter
}

func (r *PermanentError) Error() string { return r.Reason }
func (r *PermanentError) Unwrap() error { return r.Err }

// Hint says what to do.
func (r *PermanentError) Hint() string { return r.Advice }
