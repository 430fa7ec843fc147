package rules

import (
	"context"
	"time"

	"plimsoll/watch"
)

// Keeper is a teller that groups, silences and repeats by itself, such as an Alertmanager: it is told of each alert for as long as it fires,
// and forgets one of which it hears nothing for a few times as long as Every.
type Keeper interface {
	Teller
	Every() time.Duration
}

// kept is what a keeper knows.
type kept struct {
	busy    bool // it is being told: what happens meanwhile it is told the next time, so that nothing overtakes
	failing bool // that it does not answer was said
	sent    map[string]sent
}

// sent is an alert and when the keeper was told of it last.
type sent struct {
	alert watch.Alert
	at    time.Time
}

// keep tells a keeper what it must know now. What it could not be told is due again at the next evaluation.
func (t *Telling) keep(ctx context.Context, to Keeper, alerts []watch.Alert) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.keepers == nil {
		t.keepers = map[Keeper]*kept{}
	}
	k := t.keepers[to]
	if k == nil {
		k = &kept{sent: map[string]sent{}}
		t.keepers[to] = k
	}
	now := t.time()
	due := k.due(alerts, now, to.Every())
	if k.busy || len(due) == 0 {
		return
	}
	k.busy = true
	t.under.Go(func() {
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		err := to.Tell(limited, Notice{Rule: due[0].Rule, Cluster: due[0].Labels["cluster"], State: due[0].State, Alerts: due, Address: t.Address})
		t.mu.Lock()
		defer t.mu.Unlock()
		k.busy = false
		if err != nil {
			if !k.failing && t.Log != nil {
				t.Log.Error("send alerts: they are sent again until they arrive", "to", to.Name(), "alerts", len(due), "error", err)
			}
			k.failing = true
			return
		}
		k.failing = false
		for _, a := range due {
			if id := keyOf(a.Labels); a.State == Firing {
				k.sent[id] = sent{a, now}
			} else {
				delete(k.sent, id)
			}
		}
	})
}

// due are the alerts of which the keeper must be told: those that are new or that it was told of long ago, and those that fire no more. Of one that was silenced here
// it hears nothing more.
func (k *kept) due(alerts []watch.Alert, now time.Time, every time.Duration) (all []watch.Alert) {
	fires := map[string]bool{}
	for _, a := range alerts {
		if a.State != Firing {
			continue
		}
		id := keyOf(a.Labels)
		if fires[id] = true; a.Silenced {
			delete(k.sent, id)
			continue
		}
		if before, was := k.sent[id]; !was || now.Sub(before.at) >= every {
			all = append(all, a)
		}
	}
	for id, before := range k.sent {
		if !fires[id] {
			a := before.alert
			a.State, a.Resolved = Resolved, now
			all = append(all, a)
		}
	}
	return all
}

func (t *Telling) time() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}
