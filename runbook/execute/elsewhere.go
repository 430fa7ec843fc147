package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/durable"
)

// Elsewhere is who executes a run of a shared store, with another state folder than this one.
type Elsewhere struct {
	Run   string    `json:"run"`
	By    string    `json:"by"` // and where
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until"` // then it counts as dead, if it does not show before that it lives
}

// ElsewhereError refuses to execute a run that an executor elsewhere has.
type ElsewhereError struct{ Elsewhere }

// Elsewhere tells who executes a run elsewhere; nil: nobody is known to.
func (s *Service) Elsewhere(ctx context.Context, run string) (*Elsewhere, error) {
	e, err := s.Store.Elsewhere(ctx, run)
	if err != nil || e == nil {
		return nil, err
	}
	return s.name(ctx, e), nil
}

// Executed tells whether a run is executed now: by a process of this state folder, or by whom elsewhere.
func (s *Service) Executed(ctx context.Context, run string) (yes bool, elsewhere *Elsewhere, err error) {
	if elsewhere, err = s.Elsewhere(ctx, run); elsewhere != nil || err != nil {
		return elsewhere != nil, elsewhere, err
	}
	yes, err = s.Store.Executes(ctx, run)
	return yes, nil, err
}

// name puts the person to an executor, when its session has said who that is.
func (s *Service) name(ctx context.Context, e *durable.ElsewhereError) *Elsewhere {
	who := &Elsewhere{Run: e.Run, By: e.Executor, Until: e.Until}
	r, err := s.Store.Run(ctx, e.Run)
	if err != nil {
		return who
	}
	if st, err := s.State(ctx, e.Run); err == nil && st.Session == r.Sessions {
		who.By, who.Since = st.Holder, st.Since
	}
	return who
}

// refused says it for people when a run is executed elsewhere.
func (s *Service) refused(ctx context.Context, err error) error {
	var e *durable.ElsewhereError
	if errors.As(err, &e) {
		return &ElsewhereError{*s.name(ctx, e)}
	}
	return err
}

// String says who, where and since when.
func (e Elsewhere) String() string {
	text := "executed by " + e.By
	if !e.Since.IsZero() {
		text += ", since " + e.Since.Local().Format(time.DateTime)
	}
	return text
}

func (e *ElsewhereError) Error() string { return fmt.Sprintf("run %s is %s", e.Run, e.Elsewhere) }

// Hint says what to do.
func (e *ElsewhereError) Hint() string {
	return fmt.Sprintf("plimsoll runbook status %[1]s shows it and plimsoll runbook cancel %[1]s stops it, from here; to execute it here, stop it there first (Ctrl-C); if its process died, this machine can take it over after %[2]s",
		e.Run, e.Until.Local().Format(time.TimeOnly))
}
