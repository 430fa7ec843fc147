package api

import (
	"fmt"
	"net/http"
	"strconv"

	"plimsoll/watch/store"
)

// truncated is an answer that was cut off at the limit which the asker set. Grafana shows the warning.
type truncated struct{ data any }

const truncatedWarning = "results truncated due to limit"

// limited cuts an answer off at the parameter of that name; without one, or with 0, all of it is given.
func limited[T any](r *http.Request, name string, all []T) (any, error) {
	most, err := limitOf(r, name)
	if err != nil || most == 0 || len(all) <= most {
		return all, err
	}
	return truncated{all[:most]}, nil
}

func limitOf(r *http.Request, name string) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return 0, nil
	}
	most, err := strconv.Atoi(text)
	if err != nil || most < 0 {
		return 0, badRequest{fmt.Errorf("%s %q, expected a whole number, or 0 for no limit", name, text)}
	}
	return most, nil
}

// exemplars are never kept here: the answer is empty, and not "no such page", which Grafana would show over its curve.
func (a *API) exemplars(r *http.Request) (any, error) {
	if _, _, err := a.span(r, a.Now()); err != nil {
		return nil, err
	}
	if err := store.Check(r.FormValue("query")); err != nil {
		return nil, err
	}
	return []any{}, nil
}
