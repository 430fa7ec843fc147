package web

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"plimsoll/action"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/runbook/execute"
	"plimsoll/runbook/lock"
	"plimsoll/runbook/plan"
	"plimsoll/web/access"
)

var errNoPage = errors.New("there is no page at this address")

// roleError is a page or an act that needs a role which the person has not.
type roleError struct {
	needs access.Role
	who   access.Person
}

func (e *roleError) Error() string {
	what := map[access.Role]string{access.View: "this page", access.Approve: "approving"}[e.needs]
	needs := cmp.Or(what, "what you asked for") + " needs the role " + e.needs.String()
	if e.who.Name == "" {
		return "you are not logged in, and " + needs
	}
	return fmt.Sprintf("%s has the role %s; %s", e.who.Name, e.who.Role, needs)
}

// Hint says what to do.
func (e *roleError) Hint() string {
	if e.who.Name == "" {
		return "log in first"
	}
	return fmt.Sprintf("roles: {%s: %s} in the web configuration, the file that --web-config names, gives %s that role", e.who.Name, e.needs, e.who.Name)
}

// badRequest is a request that makes no sense, or not any more.
type badRequest struct{ text, hint string }

func (e *badRequest) Error() string { return e.text }

// Hint says what to do.
func (e *badRequest) Hint() string { return e.hint }

// waitsError is a second order to a run that waits for its turn.
type waitsError struct{ run string }

func (e *waitsError) Error() string {
	return fmt.Sprintf("run %s waits: another Plimsoll executes a run here", e.run)
}

// failure is what went wrong, as the page and its JSON show it.
type failure struct {
	Status int    `json:"status"`
	Error  string `json:"error"`
	Hint   string `json:"hint,omitempty"`
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	t := failure{Status: statusOf(err), Error: err.Error(), Hint: hintOf(err)}
	if t.Status == http.StatusInternalServerError && r.Context().Err() == nil { // a browser that has left is no error of the page
		s.Log.Error("request", "path", r.URL.Path, "error", err)
	}
	s.show(w, r, t.Status, "trouble", t)
}

func statusOf(err error) int {
	var role *roleError
	var bad *badRequest
	var problem *document.Problem
	var problems document.Problems
	var gate *plan.GateError
	var busy *lock.BusyError
	var elsewhere *execute.ElsewhereError
	var permanent *hint.PermanentError
	var claimed *action.ClaimedError
	var waits *waitsError
	var changed *execute.ChangedPlanError
	var trial *busyTrial
	var missing *missingError
	var full *busyError
	var large *http.MaxBytesError
	switch {
	case errors.Is(err, errNoPage), errors.Is(err, durable.ErrNoRun), errors.Is(err, fs.ErrNotExist), errors.As(err, &missing):
		return http.StatusNotFound
	case errors.As(err, &role):
		return http.StatusForbidden
	case errors.As(err, &full):
		return http.StatusServiceUnavailable
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge
	case errors.As(err, &bad), errors.As(err, &problem), errors.As(err, &problems):
		return http.StatusBadRequest
	case errors.As(err, &gate), errors.As(err, &busy), errors.As(err, &elsewhere), errors.As(err, &permanent), errors.As(err, &claimed), errors.As(err, &waits), errors.As(err, &changed), errors.As(err, &trial):
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// hintOf is what to do about an error, "" if it does not say.
func hintOf(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

// Lines are the lines of an error that holds several.
func (t failure) Lines() []string { return strings.Split(t.Error, "\n") }
