package watchcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/cmd/plimsoll/home"
	"plimsoll/lab"
	"plimsoll/watch"
	"plimsoll/watch/api"
	"plimsoll/watch/rules"
	"plimsoll/watch/settings"
	"plimsoll/watch/sink"
	"plimsoll/watch/storage"
	"plimsoll/watch/store"
)

// Service is a watch with all that belongs to it: what is read, kept, judged and told. plimsoll watch and plimsoll serve run one.
type Service struct {
	Watcher  *watch.Watcher
	Series   *store.Store
	rules    *rules.Evaluator
	silences *rules.Silences
	Changes  *watch.ChangeLog
	texts    *watch.Texts
	telling  *rules.Telling
	latest   *api.Latest
	blind    blindness
	remote   []*sink.RemoteWrite
	search   *sink.OpenSearch // nil: no documents go anywhere
	mine     func([]watch.Source) []watch.Source
	known    atomic.Pointer[[]watch.Instance] // those that other processes read too
	log      *slog.Logger
}

// OpenService puts a watch together. It reads nothing before run.
func OpenService(ctx context.Context, sources []watch.Source, set *settings.Settings, deps lab.Deps, log *slog.Logger) (*Service, error) {
	groups, err := rules.Read(set.Rules...)
	if err != nil {
		return nil, err
	}
	if set.Shipped == nil || *set.Shipped {
		shipped, err := rules.Shipped()
		if err != nil {
			return nil, err
		}
		groups = append(shipped, groups...)
	}
	tellers, err := set.Tellers(ctx, deps.Machine)
	if err != nil {
		return nil, err
	}
	folder := home.WatchFolder(deps)
	s := &Service{Changes: watch.OpenChanges(filepath.Join(folder, "changes.jsonl")), latest: &api.Latest{}, log: log}
	if s.silences, err = rules.OpenSilences(filepath.Join(folder, "silences.json")); err != nil {
		return nil, err
	}
	if s.texts, err = watch.OpenTexts(filepath.Join(folder, "statements.jsonl")); err != nil {
		return nil, err
	}
	if s.Series, err = store.Open(filepath.Join(folder, "series"), store.Options{Age: time.Duration(set.Keep.Age), Bytes: int64(set.Keep.Bytes), Log: log}); err != nil {
		return nil, err
	}
	if s.remote, err = set.Remotes(ctx, deps.Machine, log); err != nil {
		return nil, errors.Join(err, s.Series.Close())
	}
	if s.search, err = set.Documents(ctx, deps.Machine, filepath.Join(folder, "opensearch"), log); err != nil {
		return nil, errors.Join(err, s.Series.Close())
	}
	s.telling = &rules.Telling{Tellers: tellers, Repeat: cmp.Or(time.Duration(set.Repeat), 4*time.Hour), Address: set.Address, Log: log}
	s.rules = rules.New(rules.Config{
		Series: s.Series, Groups: groups, Silences: s.silences, Fired: s.fired, Log: log,
		Unread: func(instance string, since time.Time) bool { return s.Watcher.Unread(instance, since) },
	})
	s.mine = set.Mine
	mine, err := s.derived(ctx, sources)
	if err != nil {
		return nil, errors.Join(err, s.Series.Close())
	}
	s.Watcher = watch.New(watch.Config{
		Sources: mine, Keep: s.keep, Alerts: s.alerts, Log: log, Documents: s.document,
		Left: func(ctx context.Context, instance string) {
			s.latest.End(instance)
			ended, err := s.Series.End(ctx, instance, time.Now())
			if err != nil {
				log.Error("end the series of an instance that is no longer watched", "instance", instance, "error", err)
			}
			s.send(ctx, ended)
		},
		Gone: func(ctx context.Context, instance string, at time.Time) {
			ended, err := s.Series.EndReadings(ctx, instance, at)
			if err != nil {
				log.Error("end the series of an instance that does not answer", "instance", instance, "error", err)
			}
			s.send(ctx, ended)
		},
		Changes: func(c watch.Change) {
			if err := s.change(c); err != nil {
				log.Error("keep a change", "error", err)
			}
		},
	})
	return s, nil
}

// derived are those of the sources that this process reads, with what follows from what was seen of them before.
func (s *Service) derived(ctx context.Context, sources []watch.Source) ([]watch.Source, error) {
	known := make([]watch.Instance, 0, len(sources))
	for _, source := range sources {
		known = append(known, source.Instance)
	}
	s.known.Store(&known)
	mine := s.mine(sources)
	for n, source := range mine {
		if source.Volume == nil || s.Watcher != nil && s.Watcher.Follows(source.Instance.Name) {
			continue
		}
		past, err := s.pastIOPS(ctx, source.Instance.Name)
		if err != nil {
			return nil, err
		}
		mine[n].Derive = watch.FollowStorage(storage.NewModel(*source.Volume), past)
	}
	return mine, nil
}

// Follow makes these the sources that are read.
func (s *Service) Follow(ctx context.Context, sources []watch.Source) error {
	mine, err := s.derived(ctx, sources)
	if err != nil {
		return err
	}
	s.Watcher.Follow(mine)
	return nil
}

// send gives samples to the stores that remote_write names.
func (s *Service) send(ctx context.Context, samples []watch.Sample) {
	for _, w := range s.remote {
		_ = w.Append(ctx, samples) // it never fails
	}
}

func (s *Service) keep(ctx context.Context, samples []watch.Sample) error {
	s.send(ctx, samples)
	return errors.Join(s.Series.Append(ctx, samples), s.latest.Append(ctx, samples))
}

// pastIOPS are those that were kept of an instance in the last two weeks.
func (s *Service) pastIOPS(ctx context.Context, instance string) (*storage.Week, error) {
	now := time.Now()
	lines, err := s.Series.Query(ctx, fmt.Sprintf("avg_over_time(plimsoll_iops{instance=%q}[5m])", instance), now.Add(-14*24*time.Hour), now, 5*time.Minute)
	if err != nil {
		return nil, fmt.Errorf("look back at the IOPS of %s: %w", instance, err)
	}
	var past storage.Week
	for _, l := range lines {
		for _, p := range l.Points {
			past.Add(p.At, p.Value)
		}
	}
	return &past, nil
}

// change keeps a change, and writes it as a document.
func (s *Service) change(c watch.Change) error {
	s.document(c.Document())
	return s.Changes.Add(c)
}

func (s *Service) document(d watch.Document) {
	if s.search != nil {
		s.search.Add(d)
	}
}

// fired tells people of alerts, and writes those that were resolved as documents; those that fire are in the documents of the fleet.
func (s *Service) fired(ctx context.Context, alerts []watch.Alert) {
	since, why := s.Watcher.Unkept()
	s.tellUnkept(ctx, since)
	alerts = append(alerts, s.muted(s.blind.turn(time.Now(), since, why))...)
	s.telling.Fired(ctx, alerts)
	for _, a := range alerts {
		if a.State == rules.Resolved {
			s.document(a.Document())
		}
	}
}

// fleetEvery is how often a document is written of each instance.
const fleetEvery = 10 * time.Second

// pictures keeps the texts of the statements that each instance shows, and writes what it shows as a document, flat as Logstash's JDBC input would.
func (s *Service) pictures(ctx context.Context) {
	tick := time.NewTicker(fleetEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f := s.Watcher.Fleet()
		for _, i := range f.Instances {
			if err := s.texts.Keep(i.Statements); err != nil {
				s.log.Error("keep the texts of statements", "error", err)
			}
			s.document(i.Document(f.At))
		}
	}
}

// Run reads and judges until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { s.rules.Run(ctx) })
	all.Go(func() { s.pictures(ctx) })
	for _, w := range s.remote {
		all.Go(func() { w.Run(ctx) })
	}
	if s.search != nil {
		all.Go(func() { _ = s.search.Run(ctx) }) // what it could not send waits on disk
	}
	err := s.Watcher.Run(ctx)
	s.telling.Wait()
	return err
}

// Marks takes what deployments tell: POST /api/marks.
func (s *Service) Marks() http.Handler {
	return api.Marks(s.change, func() []watch.Instance { return *s.known.Load() }, time.Now)
}

// Handler answers what Grafana and Prometheus ask, /api/v1/ and /metrics, and takes marks from programs: pages of other sites are refused.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /api/marks", http.NewCrossOriginProtection().Handler(s.Marks()))
	mux.Handle("/api/v1/", (&api.API{Store: s.Series, Rules: s.rules, Alerts: s.alerts, Version: home.Version()}).Handler())
	mux.Handle("GET /metrics", s.latest.Metrics(time.Now))
	return mux
}

// Close ends the keeping of series.
func (s *Service) Close() error { return s.Series.Close() }
