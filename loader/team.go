package loader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/load"
	"plimsoll/workload"
)

// Team issues a load by several loaders.
type Team struct {
	Loaders []Loader
	Job     Job
	Version string // of Plimsoll, which all must share
	Mark    string // a path that tells whose processes they are; "": /plimsoll/load
}

var _ load.Runner = Team{}.Run

// The patience of a team.
const (
	startWithin = time.Minute            // a process to say hello
	readyWithin = 10 * time.Minute       // it to connect, and to look at the data
	beginAfter  = 300 * time.Millisecond // the order to begin
	silentFor   = 20 * time.Second       // a loader that tells a second every second
	endWithin   = 15 * time.Second       // beyond the load's own grace, after the order to stop
	byeWithin   = 5 * time.Second        // a process to end
)

// Run issues a load as load.Run does. A load of fewer connections than there are loaders is issued by as many as have one.
//
// A loader that dies, falls silent or is stopped by somebody else does not end the load: the others go on with their parts. Its
// operations, those that were due and that it did not tell the end of, are errors of class loader_lost of the operation
// "unknown", and Summary.Broken says what happened. When ctx ends, all are told to stop; no process is left when Run returns.
func (t Team) Run(ctx context.Context, spec load.Spec, each func(load.Second)) (load.Summary, error) {
	if err := spec.Validate(); err != nil {
		return load.Summary{}, err
	}
	loaders := t.Loaders[:min(len(t.Loaders), spec.Connections)]
	if len(loaders) == 0 {
		return load.Summary{}, errors.New("a load from no loader")
	}
	w := &work{
		spec: spec, started: time.Now(), news: make(chan heard, 16*len(loaders)),
		end: load.Summary{Examples: map[string]string{}},
	}
	defer closeAll(loaders)
	defer w.dismiss()
	if err := w.assemble(ctx, t, loaders); err != nil {
		return load.Summary{}, err
	}
	if err := w.compareClocks(ctx); err != nil {
		return load.Summary{}, err
	}
	w.begin()
	return w.gather(ctx, each), nil
}

// closeAll closes the lines to the loaders' machines. What was measured is here: how they end makes no difference to it.
func closeAll(loaders []Loader) {
	for _, l := range loaders {
		if l.Close != nil {
			_ = l.Close()
		}
	}
}

// work is a load under way.
type work struct {
	spec    load.Spec
	started time.Time // all moments count from here
	members []*member
	news    chan heard

	begun  time.Duration
	merged together
	stop   time.Duration // no operation starts at or after it, from begun on
	asked  bool          // the loaders were asked to stop
	end    load.Summary
}

func (w *work) now() time.Duration { return time.Since(w.started) }

// assemble starts the processes and gives each its part; it returns when all are ready.
func (w *work) assemble(ctx context.Context, t Team, loaders []Loader) error {
	mark := cmp.Or(t.Mark, "/plimsoll/load")
	members, errs := make([]*member, len(loaders)), make([]error, len(loaders))
	var starting sync.WaitGroup
	for i, l := range loaders {
		starting.Go(func() {
			members[i], errs[i] = start(ctx, l, i, mark, w.now, func(h heard) { w.news <- h })
		})
	}
	starting.Wait()
	for _, m := range members {
		if m != nil {
			w.members = append(w.members, m)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err := w.hearFromAll(ctx, startWithin, "answer", func(h heard) (bool, error) {
		if h.Hello == nil {
			return false, nil
		}
		if h.Hello.Protocol != protocol || h.Hello.Version != t.Version {
			return false, fmt.Errorf("it runs Plimsoll %s, and this is %s: install the same version there", h.Hello.Version, t.Version)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, m := range w.members {
		job, err := newJobOrder(t.Job, w.spec, workload.Part{Index: m.index, Of: len(w.members)})
		if err != nil {
			return err
		}
		m.say(order{Job: job})
	}
	return w.hearFromAll(ctx, readyWithin, "connect", func(h heard) (bool, error) { return h.Ready, nil })
}

// hearFromAll waits until every loader has said what is waited for.
func (w *work) hearFromAll(ctx context.Context, within time.Duration, what string, isIt func(heard) (bool, error)) error {
	limit := time.NewTimer(within)
	defer limit.Stop()
	for waiting := len(w.members); waiting > 0; {
		select {
		case h := <-w.news:
			it, err := isIt(h)
			switch {
			case h.gone:
				h.from.gone = true
				err = fmt.Errorf("its process ended before the load began: %w", orDone(h.err))
			case h.Error != "":
				err = errors.New(h.Error)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", h.from.name, err)
			}
			if it {
				waiting--
			}
		case <-limit.C:
			return fmt.Errorf("%d of %d loaders did not %s within %v", waiting, len(w.members), what, within)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

var errEnded = errors.New("it ended by itself")

func orDone(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// begin orders all to begin at the same moment.
func (w *work) begin() {
	after := beginAfter
	for _, m := range w.members {
		after = max(after, beginAfter+4*m.rtt)
	}
	w.begun = w.now() + after
	w.stop = w.spec.Duration
	if w.stop == 0 {
		w.stop = never
	}
	w.merged = together{operations: w.spec.Operations, begun: w.started.Add(w.begun).Round(0)}
	for _, m := range w.members {
		at := w.begun + m.offset
		m.say(order{Begin: &at})
		m.heard = w.begun
		w.merged.strands = append(w.merged.strands, &strand{name: m.name, machine: m.machine})
	}
	w.end.Start = w.merged.begun
}

const never = time.Duration(1<<63 - 1)

// gather hears the loaders out and hands on what they measured.
func (w *work) gather(ctx context.Context, each func(load.Second)) load.Summary {
	seconds := make(chan load.Second, 64)
	var delivery sync.WaitGroup
	delivery.Go(func() {
		for s := range seconds {
			if each != nil {
				each(s)
			}
		}
	})
	sum := newSums(w.spec.Operations)
	pass := func(s load.Second) {
		sum.add(s)
		seconds <- s
	}
	w.hearOut(ctx, pass)
	if s, any := w.merged.rest(); any {
		pass(s)
	}
	close(seconds)
	delivery.Wait()
	w.compareAgain()
	return sum.summary(w.end)
}

// hearOut returns when every loader has told all, or died.
func (w *work) hearOut(ctx context.Context, pass func(load.Second)) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	stopping := ctx.Done()
	var patience <-chan time.Time
	for w.running() {
		select {
		case h := <-w.news:
			w.hear(h)
		case <-look.C:
			w.findSilent()
		case <-stopping:
			stopping = nil
			w.askToStop()
			patience = time.After(w.spec.Patience() + endWithin)
		case <-patience:
			for _, m := range w.members {
				w.lose(m, "it did not stop when requested")
			}
		}
		for s, any := w.merged.take(); any; s, any = w.merged.take() {
			pass(s)
		}
	}
}

func (w *work) running() bool {
	for _, m := range w.members {
		if !m.over {
			return true
		}
	}
	return false
}

func (w *work) allLost() bool {
	for _, s := range w.merged.strands {
		if s.lost == nil {
			return false
		}
	}
	return true
}

func (w *work) hear(h heard) {
	m, strand := h.from, w.merged.strands[h.from.index]
	m.heard = h.at
	switch {
	case h.gone:
		m.gone = true
		w.lose(m, orDone(h.err).Error())
	case m.over:
	case h.Error != "":
		w.lose(m, h.Error)
	case h.Second != nil:
		strand.pieces = append(strand.pieces, *h.Second)
		for _, o := range h.Second.Operations {
			m.told += o.Scheduled
		}
	case h.End != nil:
		w.end.Length = max(w.end.Length, h.End.Length)
		w.end.CPU += h.End.CPU
		w.end.MaxRSS += h.End.MaxRSS
		for class, text := range h.End.Examples {
			if _, known := w.end.Examples[class]; !known {
				w.end.Examples[class] = text
			}
		}
		if h.End.Stopped && !w.asked {
			w.lose(m, "it was stopped by somebody else")
			return
		}
		m.over, strand.over = true, true
	}
}

// lose goes on without a loader.
func (w *work) lose(m *member, why string) {
	if m.over {
		return
	}
	m.kill()
	strand := w.merged.strands[m.index]
	m.over, strand.over = true, true
	strand.lost = newLoss(w.spec.Part(m.index, len(w.members)), m.told, w.stop)
	at := max(w.now()-w.begun, 0)
	if w.allLost() { // nobody is left whose end would be the load's
		for _, s := range w.merged.strands {
			s.lost.stop = min(s.lost.stop, at)
		}
		w.end.Length = max(w.end.Length, min(at, w.stop))
	}
	w.end.Broken = append(w.end.Broken, fmt.Sprintf("%s was lost %v after the load began: %s; its operations from then on are errors of class %s",
		m.name, at.Round(time.Second/10), why, classLost))
	w.end.Examples[classLost] = m.name + ": " + why
}

// findSilent gives up loaders that have not told a second for long.
func (w *work) findSilent() {
	for _, m := range w.members {
		if silent := w.now() - m.heard; !m.over && silent > silentFor {
			w.lose(m, fmt.Sprintf("it has not answered for %v", silent.Round(time.Second)))
		}
	}
}

func (w *work) askToStop() {
	w.asked = true
	w.stop = min(w.stop, max(w.now()-w.begun, 0))
	for _, m := range w.members {
		if m.over {
			if lost := w.merged.strands[m.index].lost; lost != nil {
				lost.stop = min(lost.stop, w.stop)
			}
			continue
		}
		m.say(order{Stop: true})
	}
}

// dismiss ends every process and waits for its end.
func (w *work) dismiss() {
	for _, m := range w.members {
		m.say(order{Bye: true})
	}
	patience := time.NewTimer(byeWithin)
	defer patience.Stop()
	for {
		left := 0
		for _, m := range w.members {
			if !m.gone {
				left++
			}
		}
		if left == 0 {
			break
		}
		select {
		case h := <-w.news:
			h.from.gone = h.from.gone || h.gone
		case <-patience.C:
			for _, m := range w.members {
				m.kill()
			}
		}
	}
	for _, m := range w.members {
		m.kill() // releases what waits for it
	}
}
