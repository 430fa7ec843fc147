package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"plimsoll/load"
)

// Server is what a loader process runs.
type Server struct {
	Open    Open
	Version string // of Plimsoll

	newAlarm func() (load.Alarm, error) // nil: load's own choice
	drift    func() time.Duration       // of the clock, for tests; nil: none
}

// Serve obeys the team at the other end of in and out until that says goodbye or is gone: then the load is stopped and
// nothing of it is left. An error means that the conversation failed; what went wrong with the job was told to the team.
func (s Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &conversation{
		started: time.Now(), drift: s.drift, out: json.NewEncoder(out), stop: stop,
		jobs: make(chan *jobOrder, 1), begin: make(chan time.Duration, 1), over: make(chan struct{}),
	}
	if err := c.tell(report{Hello: &hello{Protocol: protocol, Version: s.Version}}); err != nil {
		return err
	}
	go c.listen(in)
	select {
	case job := <-c.jobs:
		if err := s.work(ctx, c, job); err != nil {
			if failed := c.tell(report{Error: err.Error()}); failed != nil {
				return failed
			}
		}
	case <-c.over:
		return c.failure
	}
	// The team may still want to know what the clock says. It ends by goodbye, or its own end.
	<-c.over
	return c.failure
}

// work issues the part of a job.
func (s Server) work(ctx context.Context, c *conversation, job *jobOrder) error {
	spec, err := job.spec()
	if err != nil {
		return err
	}
	source, err := s.Open(ctx, job.job(), job.Part)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // everything that it did has been told
	if !slices.Equal(source.Operations, spec.Operations) {
		return fmt.Errorf("the workload %s has the operations %v here and %v there", job.Workload, source.Operations, spec.Operations)
	}
	spec.NewAlarm = s.newAlarm
	var begun time.Time
	spec.Begin = func(ctx context.Context) (time.Time, error) {
		if err := c.tell(report{Ready: true}); err != nil {
			return begun, err
		}
		select {
		case at := <-c.begin:
			begun = c.started.Add(at)
			return begun, nil
		case <-ctx.Done():
			return begun, ctx.Err()
		}
	}
	all, err := load.Run(ctx, spec, source.Connect, func(second load.Second) {
		c.note(c.tell(report{Second: &secondReport{
			Start: second.Start.Sub(begun.Round(0)), Length: second.Length, Operations: second.Operations, Guard: second.Guard,
		}}))
	})
	if err != nil {
		return err
	}
	return c.tell(report{End: &endReport{Length: all.Length, Stopped: ctx.Err() != nil, Examples: all.Examples, CPU: all.CPU, MaxRSS: all.MaxRSS}})
}

// conversation is a loader's side of it.
type conversation struct {
	started time.Time
	drift   func() time.Duration
	stop    func()
	jobs    chan *jobOrder
	begin   chan time.Duration
	over    chan struct{} // closed when the team is gone

	turn    sync.Mutex
	out     *json.Encoder
	failure error
}

func (c *conversation) now() time.Duration {
	now := time.Since(c.started)
	if c.drift != nil {
		now += c.drift()
	}
	return now
}

func (c *conversation) tell(r report) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	if err := c.out.Encode(r); err != nil {
		return fmt.Errorf("report to Plimsoll: %w", err)
	}
	return nil
}

// note stops the load when nobody hears of it any more.
func (c *conversation) note(err error) {
	if err != nil {
		c.stop()
	}
}

// listen obeys until the team is gone.
func (c *conversation) listen(in io.Reader) {
	defer close(c.over)
	defer c.stop()
	for orders := json.NewDecoder(in); ; {
		var o order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return
		case err != nil:
			c.failure = fmt.Errorf("receive from Plimsoll: %w", err)
			return
		case o.Bye:
			return
		case o.Stop:
			c.stop()
		case o.Ask != 0:
			c.note(c.tell(report{Clock: &reading{Ask: o.Ask, Now: c.now()}}))
		case o.Begin != nil && len(c.begin) == 0:
			c.begin <- *o.Begin
		case o.Job != nil && len(c.jobs) == 0:
			c.jobs <- o.Job
		}
	}
}
