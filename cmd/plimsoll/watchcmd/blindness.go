package watchcmd

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"plimsoll/watch"
	"plimsoll/watch/rules"
)

// blindFor is how long samples may be lost before somebody is told.
const blindFor = time.Minute

// blindness is the alert that no rule can give: rules ask the series that are kept, and none are while the disk is full.
type blindness struct {
	after time.Duration // 0: blindFor

	mu    sync.Mutex
	alert *watch.Alert // that fires
}

// turn is given since when samples could not be kept, and why, and returns the alert if it fires or was resolved just now.
func (b *blindness) turn(now, since time.Time, why string) []watch.Alert {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !since.IsZero() && now.Sub(since) >= cmp.Or(b.after, blindFor):
		if b.alert == nil {
			b.alert = &watch.Alert{
				Rule: "SamplesNotKept", Severity: "critical", State: rules.Firing, Since: since, Fired: now, Labels: map[string]string{"alertname": "SamplesNotKept", "severity": "critical"},
				Why: "Rules are evaluated on the series that are kept. Until samples are kept again no new alert fires, and none that fires is resolved; /metrics and remote_write go on.",
				Do:  "Make room in the folder of the series, or correct what the error names. Reading goes on meanwhile, and what is read is kept again by itself.",
			}
		}
		b.alert.Summary = fmt.Sprintf("no sample is kept since %s: %s", since.UTC().Format("15:04:05 UTC"), why)
		return []watch.Alert{*b.alert}
	case b.alert != nil:
		over := *b.alert
		over.State, over.Resolved = rules.Resolved, now
		b.alert = nil
		return []watch.Alert{over}
	}
	return nil
}

// firing is the alert while it fires.
func (b *blindness) firing() []watch.Alert {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.alert == nil {
		return nil
	}
	return []watch.Alert{*b.alert}
}

// alerts are those of the rules, and the one that no rule can give.
func (s *Service) alerts() []watch.Alert {
	return append(s.muted(s.blind.firing()), s.rules.Alerts()...)
}

// muted marks alerts that are silenced.
func (s *Service) muted(all []watch.Alert) []watch.Alert {
	for n := range all {
		all[n].Silenced = s.silences.Mutes(all[n].Labels, time.Now())
	}
	return all
}

// tellUnkept gives /metrics and the stores of remote_write a series of what the own store cannot have: since when samples are not kept.
func (s *Service) tellUnkept(ctx context.Context, since time.Time) {
	now := time.Now()
	sample := watch.Sample{Name: "plimsoll_watch_unkept_seconds", At: now}
	if !since.IsZero() {
		sample.Value = now.Sub(since).Seconds()
	}
	s.send(ctx, []watch.Sample{sample})
	_ = s.latest.Append(ctx, []watch.Sample{sample}) // it never fails
}
