// Package watch follows a fleet of database instances: it reads each once a second, keeps the series, and says of every
// instance where it waits, what it lacks, and what will run out.
//
// The web page embeds it so:
//
//	st, err := store.Open(folder, store.Options{})           // watch/store: kept series, PromQL
//	w := watch.New(watch.Config{Sources: sources, Keep: st.Append, Log: log})
//	go func() { done <- w.Run(ctx) }()                       // reads until ctx ends
//	fleet := w.Fleet()                                       // the picture now, worst first; has JSON tags
//	changed := w.Changed(); <-changed                        // closed at the next new picture: at most one a second
//	lines, err := st.Query(ctx, `sum by (wait) (plimsoll_aas{instance="orders/n1"})`, from, to, step)
//	mux.Handle("/api/v1/", api.New(st, …))                   // watch/api: what Grafana asks of a Prometheus
//
// The command line puts the sources together (cmd/plimsoll/watchcmd/sources.go: the inventory and labs).
//
// A Source has one or more Collectors: what reads one instance in one way. What is known beside SQL (CloudWatch, Performance
// Insights, the accounts of a process on this machine) is one more Collector of the same Source; it brings samples for the store and
// sets its own fields of the Instance. Nothing here knows a kind of database.
package watch

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Config is what a Watcher works with.
type Config struct {
	Sources   []Source
	Keep      func(context.Context, []Sample) error    // is given all samples; may be nil
	Alerts    func() []Alert                           // those that fire now; may be nil
	Changes   func(Change)                             // is told of every change of an instance; may be nil
	Documents func(Document)                           // is given documents; must not wait; may be nil
	Left      func(context.Context, string)            // is told of each instance that is read no more, after its last sample; may be nil
	Gone      func(context.Context, string, time.Time) // is told when an instance answers no more, or refuses the account, before its samples of then; may be nil
	Log       *slog.Logger                             // nil: nothing is logged
	Now       func() time.Time                         // nil: time.Now
	Every     time.Duration                            // how often the second level is read; 0: 1 s
}

// Watcher reads a fleet. Its methods are safe for concurrent use.
type Watcher struct {
	cfg Config

	mu        sync.Mutex
	sources   []Source             // that are to be read
	instances map[string]*Instance // by name
	stored    map[string]time.Time // when the samples of their last reading had been kept
	losing    map[*visitor]unkept  // whose samples could not be kept
	changed   chan struct{}
	fresh     bool // something was read since changed was last closed

	others chan struct{} // one token when the sources are others
	once   once
}

// New prepares to watch; nothing is read before Run.
func New(cfg Config) *Watcher {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Every == 0 {
		cfg.Every = time.Second
	}
	w := &Watcher{cfg: cfg, instances: map[string]*Instance{}, stored: map[string]time.Time{}, losing: map[*visitor]unkept{}, changed: make(chan struct{}), others: make(chan struct{}, 1)}
	w.Follow(cfg.Sources)
	return w
}

// Run reads until ctx ends, each collector on its own, so that one that hangs holds up no other.
func (w *Watcher) Run(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { w.tell(ctx) })
	reading := map[string]context.CancelFunc{} // by the place of the source
	for {
		w.begin(ctx, reading, &all)
		select {
		case <-ctx.Done():
			return nil
		case <-w.others:
		}
	}
}

// begin has those sources read that are not yet, and ends what is none any more.
func (w *Watcher) begin(ctx context.Context, reading map[string]context.CancelFunc, all *sync.WaitGroup) {
	w.mu.Lock()
	sources := slices.Clone(w.sources)
	w.mu.Unlock()
	for place, end := range reading {
		if !slices.ContainsFunc(sources, func(s Source) bool { return s.place() == place }) {
			end()
			delete(reading, place)
		}
	}
	for at, s := range sources {
		if reading[s.place()] != nil {
			continue
		}
		of, end := context.WithCancel(ctx)
		reading[s.place()] = end
		later := w.cfg.Every * time.Duration(at) / time.Duration(len(sources)) // five hundred at once would wait for one another
		all.Go(func() {
			var own sync.WaitGroup
			for n, c := range s.Collectors {
				v := &visitor{Watcher: w, of: s.Instance, reads: c, leads: n == 0, derive: s.Derive}
				own.Go(func() { v.follow(of, later) })
			}
			own.Wait()
			if ctx.Err() == nil && w.cfg.Left != nil && !w.Follows(s.Instance.Name) {
				w.cfg.Left(ctx, s.Instance.Name)
			}
		})
	}
}

// Fleet is the picture now, worst first.
func (w *Watcher) Fleet() Fleet {
	now := w.cfg.Now()
	var alerts []Alert
	if w.cfg.Alerts != nil {
		alerts = w.cfg.Alerts()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f := Fleet{At: now, Instances: make([]Instance, 0, len(w.instances)), Alerts: append([]Alert{}, alerts...)}
	for _, i := range w.instances {
		f.Instances = append(f.Instances, i.picture(now, alerts))
	}
	slices.SortFunc(f.Instances, worstFirst)
	return f
}

// Instance is one of the fleet by its name.
func (w *Watcher) Instance(name string) (Instance, bool) {
	for _, i := range w.Fleet().Instances {
		if i.Name == name {
			return i, true
		}
	}
	return Instance{}, false
}

// Unread tells whether nothing newer is known of an instance than what was so at a time: it is not polled now, and was not read since; or what is
// read of it cannot be kept. Without a name it tells whether that is so of any.
func (w *Watcher) Unread(name string, since time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.instances[name]
	return i != nil && i.State == Paused && w.stored[name].Before(since) || w.loses(name)
}

// Changed returns a channel that is closed when there is a new picture.
func (w *Watcher) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// tell closes changed once per interval in which something was read.
func (w *Watcher) tell(ctx context.Context) {
	tick := time.NewTicker(w.cfg.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		w.mu.Lock()
		if w.fresh {
			close(w.changed)
			w.changed, w.fresh = make(chan struct{}), false
		}
		w.mu.Unlock()
	}
}
