package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"plimsoll/watch"
)

// Marks takes what a deployment tells of itself: a POST of JSON or of a form, with what happened, and if it likes the instance or the
// cluster on whose curves it stands, and when it was. add keeps it; known are the instances that are watched.
func Marks(add func(watch.Change) error, known func() []watch.Instance, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		m, err := markOf(r, known, now())
		status := http.StatusBadRequest
		if err == nil {
			if err = add(m); err != nil {
				status = http.StatusInternalServerError
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()}) // nobody is left to be told
			return
		}
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(m) // as above
	})
}

func markOf(r *http.Request, known func() []watch.Instance, now time.Time) (watch.Change, error) {
	var asked struct {
		What     string     `json:"what"`
		Instance string     `json:"instance"`
		At       *time.Time `json:"at"`
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "application/json" {
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&asked); err != nil {
			return watch.Change{}, fmt.Errorf("read the mark: %w", err)
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return watch.Change{}, errors.New("read the mark: expected one object")
		}
	} else {
		asked.What, asked.Instance = r.FormValue("what"), r.FormValue("instance")
		if text := r.FormValue("at"); text != "" {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return watch.Change{}, fmt.Errorf("at %q, expected such as %s", text, now.Format(time.RFC3339))
			}
			asked.At = &at
		}
	}
	at := now
	if asked.At != nil {
		at = *asked.At
	}
	return watch.NewMark(asked.What, asked.Instance, at, now, known())
}
