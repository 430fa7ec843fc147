package rules

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/watch"
)

// Notice is what people are told at once: alerts of one rule in one cluster.
type Notice struct {
	Rule    string
	Cluster string
	State   string // firing, or resolved: none of them fires any more
	Alerts  []watch.Alert
	Address string // of the web page; "" if it is not known
}

// Page is the address of the page of an alert; "" if it is not known.
func (n Notice) Page(a watch.Alert) string {
	if n.Address == "" {
		return ""
	}
	return strings.TrimSuffix(n.Address, "/") + a.Page()
}

// Teller sends notices: to a chat, by mail, to an Alertmanager.
type Teller interface {
	Name() string
	Tell(ctx context.Context, n Notice) error
}

// Telling groups alerts and says when people are told: at once when one begins to fire or another joins, again when it still does
// after Repeat, and when the last of the group is resolved. A silenced alert is left out.
type Telling struct {
	Tellers []Teller
	Repeat  time.Duration // 0: 4 h
	Address string        // of the web page, which notices lead to; "": they lead nowhere
	Log     *slog.Logger
	Now     func() time.Time

	mu      sync.Mutex
	groups  map[string]*told
	keepers map[Keeper]*kept
	under   sync.WaitGroup
}

// told is what was said of a group.
type told struct {
	at     time.Time
	firing map[string]watch.Alert // by labels
}

// Fired takes what fires and what was resolved, for Config.Fired. It does not wait for the tellers; Wait does.
func (t *Telling) Fired(ctx context.Context, alerts []watch.Alert) {
	notices := t.due(alerts)
	for _, to := range t.Tellers {
		if keeper, is := to.(Keeper); is {
			t.keep(ctx, keeper, alerts)
			continue
		}
		for _, n := range notices {
			t.under.Go(func() { t.tell(ctx, to, n) })
		}
	}
}

// Wait returns when all that was begun has been told, or given up.
func (t *Telling) Wait() { t.under.Wait() }

func (t *Telling) due(alerts []watch.Alert) []Notice {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.time()
	if t.groups == nil {
		t.groups = map[string]*told{}
	}
	by := map[string][]watch.Alert{}
	for key := range t.groups {
		by[key] = nil
	}
	for _, a := range alerts {
		if a.State == Firing && !a.Silenced {
			key := a.Rule + "\x00" + a.Labels["cluster"]
			by[key] = append(by[key], a)
		}
	}
	var notices []Notice
	for key, firing := range by {
		if n, ok := t.group(key, firing, alerts, now); ok {
			n.Address = t.Address
			notices = append(notices, n)
		}
	}
	slices.SortFunc(notices, func(a, b Notice) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Cluster, b.Cluster)) })
	return notices
}

// group decides about one group.
func (t *Telling) group(key string, firing, all []watch.Alert, now time.Time) (Notice, bool) {
	before := t.groups[key]
	latest := &told{at: now, firing: map[string]watch.Alert{}}
	fresh := before == nil
	for _, a := range firing {
		id := keyOf(a.Labels)
		latest.firing[id] = a
		if before != nil {
			if _, was := before.firing[id]; !was {
				fresh = true
			}
		}
	}
	if len(firing) == 0 {
		delete(t.groups, key)
		if before == nil {
			return Notice{}, false
		}
		n := Notice{State: Resolved}
		for id, a := range before.firing {
			a.State, a.Resolved = Resolved, now
			for _, now := range all {
				if now.Silenced && keyOf(now.Labels) == id {
					return Notice{}, false // it fires on: it was silenced
				}
			}
			n.Rule, n.Cluster, n.Alerts = a.Rule, a.Labels["cluster"], append(n.Alerts, a)
		}
		return n, true
	}
	if !fresh && now.Sub(before.at) < cmp.Or(t.Repeat, 4*time.Hour) {
		before.firing = latest.firing
		return Notice{}, false
	}
	t.groups[key] = latest
	return Notice{Rule: firing[0].Rule, Cluster: firing[0].Labels["cluster"], State: Firing, Alerts: firing}, true
}

// tries are the pauses between attempts to tell.
var tries = []time.Duration{0, time.Second, 4 * time.Second, 15 * time.Second}

func (t *Telling) tell(ctx context.Context, to Teller, n Notice) {
	var err error
	for _, pause := range tries {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		limited, cancel := context.WithTimeout(ctx, 10*time.Second)
		err = to.Tell(limited, n)
		cancel()
		if err == nil {
			return
		}
	}
	if t.Log != nil {
		t.Log.Error("send an alert", "to", to.Name(), "rule", n.Rule, "error", err)
	}
}

// Title is a notice in a line.
func (n Notice) Title() string {
	state := map[string]string{Firing: "FIRING", Resolved: "resolved"}[n.State]
	if len(n.Alerts) == 1 {
		return fmt.Sprintf("[%s] %s", state, n.Alerts[0].Summary)
	}
	where := ""
	if n.Cluster != "" {
		where = " in " + n.Cluster
	}
	return fmt.Sprintf("[%s] %s%s: %d alerts", state, n.Rule, where, len(n.Alerts))
}
