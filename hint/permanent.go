package hint

// PermanentError is an error that no retry can mend: the action declines, and says why and what to do.
type PermanentError struct{ Reason, Advice string }

func (r *PermanentError) Error() string { return r.Reason }

// Hint says what to do.
func (r *PermanentError) Hint() string { return r.Advice }
