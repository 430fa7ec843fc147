package remote

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"plimsoll/hint"
	"plimsoll/infra"
)

// failure is an error on its way. What callers branch on keeps its identity, the rest its words.
type failure struct {
	Text string           `json:"text"`
	Is   []string         `json:"is,omitempty"`
	Exit *infra.ExitError `json:"exit,omitempty"`
	Hint string           `json:"hint,omitempty"`
}

// identities are the errors that callers branch on, by their names on the line.
var identities = map[string]error{
	"gone": infra.ErrGone, "locked": infra.ErrLocked, "no_program": infra.ErrNoProgram,
	"canceled": context.Canceled, "deadline": context.DeadlineExceeded, "unsupported": errors.ErrUnsupported,
	"not_exist": fs.ErrNotExist, "exist": fs.ErrExist, "permission": fs.ErrPermission,
	"ENOSPC": syscall.ENOSPC, "EDQUOT": syscall.EDQUOT, "EROFS": syscall.EROFS, "EIO": syscall.EIO,
	"ENOTDIR": syscall.ENOTDIR, "EISDIR": syscall.EISDIR, "EPIPE": syscall.EPIPE,
}

func describe(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for name, is := range identities {
		if errors.Is(err, is) {
			f.Is = append(f.Is, name)
		}
	}
	if exit := (*infra.ExitError)(nil); errors.As(err, &exit) {
		f.Exit = exit
	}
	if advised := (interface{ Hint() string })(nil); errors.As(err, &advised) {
		f.Hint = advised.Hint()
	}
	return f
}

// err is the error as it was.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	all := &told{text: f.Text}
	for _, name := range f.Is {
		if is, known := identities[name]; known {
			all.is = append(all.is, is)
		}
	}
	if f.Exit != nil {
		all.is = append(all.is, f.Exit)
	}
	if f.Hint != "" {
		return hint.With(all, f.Hint)
	}
	return all
}

// told is an error that a machine told.
type told struct {
	text string
	is   []error
}

func (t *told) Error() string   { return t.text }
func (t *told) Unwrap() []error { return t.is }
