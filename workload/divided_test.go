package workload

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"plimsoll/engine"
	"plimsoll/load"
)

// line is a connection that remembers what was done over it. How reads move between real servers is tested with these.
type line struct {
	load.Client
	done, cut, closed int
	fails             error
}

func (l *line) Do(context.Context, int) error {
	l.done++
	if l.cut > 0 {
		return &engine.Error{Kind: engine.Timeout, Lost: true, Text: "cut"}
	}
	return l.fails
}

func (l *line) Reconnect(context.Context) error { return l.fails }
func (l *line) Interrupt()                      { l.cut++ }

func (l *line) Close() error {
	l.closed++
	return nil
}

// lines is a workload of one read and one write whose clients are lines; connecting is called before one to a replica is there.
type lines struct {
	Workload
	replicas   []*line
	connecting func()
}

func (w *lines) Connect(engine.Database, uint64) load.Connect {
	return func(context.Context, int) (load.Client, error) {
		if w.connecting != nil {
			w.connecting()
		}
		w.replicas = append(w.replicas, &line{})
		return w.replicas[len(w.replicas)-1], nil
	}
}

const (
	reading = iota
	writing
)

// divide is a client whose reads go to the healthy nodes.
func divide(healthy ...string) (d *divided, primary *line, w *lines) {
	r := &Readers{bases: newDatabases((&standing{}).open)}
	r.answered = map[string]*atomic.Int64{}
	r.healthy.Store(&healthy)
	primary, w = &line{}, &lines{}
	return &divided{readers: r, workload: w, reads: []bool{true, false}, primary: primary, instead: r.counter("")}, primary, w
}

// A read that is broken off while its connection is being made breaks that connection, and no other.
func TestInterruptWhileConnecting(t *testing.T) {
	d, primary, w := divide("n2")
	w.connecting = d.Interrupt
	err := d.Do(t.Context(), reading)
	if !Lost(err) || primary.cut > 0 || w.replicas[0].cut != 1 {
		t.Fatalf("%v; the primary's was cut %d times, the replica's %d", err, primary.cut, w.replicas[0].cut)
	}
	w.connecting = nil
	if err := d.Reconnect(t.Context()); err != nil || w.replicas[0].closed != 1 {
		t.Errorf("%v; closed %d times", err, w.replicas[0].closed)
	}
	d.readers.healthy.Store(&[]string{"n2"}) // it was looked at again
	for _, operation := range []int{reading, writing} {
		if err := d.Do(t.Context(), operation); err != nil {
			t.Errorf("operation %d after that: %v", operation, err)
		}
	}
	if primary.done != 1 || len(w.replicas) != 2 || w.replicas[1].done != 1 {
		t.Errorf("the primary did %d, replicas %d", primary.done, len(w.replicas))
	}
}

// Without a primary the worker goes on reading; its writes fail until it is back.
func TestALostPrimaryKeepsNobodyFromReading(t *testing.T) {
	d, primary, w := divide("n2")
	primary.fails = &engine.Error{Kind: engine.Unavailable, Lost: true, Text: "gone"}
	if err := d.Do(t.Context(), writing); !Lost(err) {
		t.Fatal(err)
	}
	if err := d.Reconnect(t.Context()); err != nil {
		t.Errorf("a worker that can read is held up: %v", err)
	}
	if err := d.Do(t.Context(), reading); err != nil || w.replicas[0].done != 1 {
		t.Errorf("a read: %v", err)
	}
	if err := d.Do(t.Context(), writing); engine.ClassOf(err) != engine.Unavailable || Lost(err) {
		t.Errorf("a write: %v", err)
	}
	primary.fails = nil
	if err := d.Do(t.Context(), writing); err != nil {
		t.Errorf("a write to a primary that is back: %v", err)
	}
	// With no replica either, the worker waits for the primary.
	d.readers.suspect("n2")
	primary.fails = errors.New("gone")
	if err := d.Reconnect(t.Context()); err == nil {
		t.Error("it goes on although nobody is there")
	}
	if got := d.readers.Answered(); got["n2"] != 1 || got[""] != 0 {
		t.Errorf("answered %v", got)
	}
}
