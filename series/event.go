package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// EventWriter writes events.jsonl: one JSON object a line. It is not safe for concurrent use.
type EventWriter struct{ json *json.Encoder }

// NewEventWriter returns a writer of events; the file has no header.
func NewEventWriter(w io.Writer) *EventWriter { return &EventWriter{json.NewEncoder(w)} }

// Write appends events. One that is not as EventKinds has it is an error, and kept.
func (w *EventWriter) Write(events ...Event) error {
	var misfits []error
	for _, e := range events {
		if err := w.json.Encode(e); err != nil {
			return fmt.Errorf("write event %s: %w", e.Kind, err)
		}
		if why := e.unfit(); why != "" { // it is kept all the same: a reader passes over what it does not know
			misfits = append(misfits, fmt.Errorf("event %s: %s", e.Kind, why))
		}
	}
	return errors.Join(misfits...)
}

// ReadEvents yields the events of events.jsonl. Numbers in a detail come back as float64. After an error there is
// nothing more.
func ReadEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		number := 0
		for line, err := range lines(r) {
			number++
			if err != nil {
				yield(Event{}, fmt.Errorf("read events: %w", err))
				return
			}
			var e Event
			if err := json.Unmarshal(line, &e); err != nil {
				yield(Event{}, fmt.Errorf("events line %d: %w", number, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
