package bufferpool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/poll"
)

var waitAction = action.Action{
	Name: "mysql.wait-warm", Version: 1,
	About: "Waits until a node is warm, judged by its miss rate or by the share of chosen tables or indexes in memory.",
	New:   func() action.Task { return &wait{MissShare: 0.01, Requests: 1, Hold: 5 * time.Second, Share: 0.9} },
}

// wait looks once a second. The miss rate costs nothing and needs somebody who reads; the share in memory needs nobody,
// and costs MariaDB a walk through its whole buffer pool.
type wait struct {
	onServer
	MissShare float64       `yaml:"miss_share" doc:"The node is warm when at most this share of the pages requested in a second is read from disk. Default 0.01. Pages being loaded count as read from disk."`
	Requests  int64         `yaml:"requests" doc:"Seconds with fewer page requests are ignored. Default 1."`
	Hold      time.Duration `yaml:"hold" doc:"For how long the node must stay warm. Default 5s."`
	chosen
	Share  float64 `yaml:"share" doc:"With tables or indexes: the node is warm when this share of their pages is in memory, whatever the miss rate. Default 0.9."`
	Costly bool    `yaml:"costly" doc:"Allow this for a server that does not count pages by index, such as MariaDB: every check scans its whole buffer pool and blocks other work, for about a second per 10 GiB. Default false."`
}

var (
	_ action.Verifier  = (*wait)(nil)
	_ action.Validator = (*wait)(nil)
)

func (w *wait) Validate() error {
	if w.MissShare < 0 || w.MissShare >= 1 {
		return fmt.Errorf("miss_share is %v, expected a share from 0 to below 1", w.MissShare)
	}
	if w.Share <= 0 || w.Share > 1 {
		return fmt.Errorf("share is %v, expected more than 0 and at most 1", w.Share)
	}
	if w.Requests < 1 {
		return errors.New("requests must be at least 1: without requests Plimsoll cannot tell whether a server is warm")
	}
	return w.validate()
}

func (w *wait) Traits() action.Traits { return action.Traits{Effect: action.None, Repeatable: true} }

// Check looks once. A miss rate it finds needed: a rate is seen over time.
func (w *wait) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if w.empty() {
		return action.CheckResult{State: action.Needed, Intended: action.Facts{"miss_share": w.MissShare, "for": w.Hold.String()}}, nil
	}
	f := action.CheckResult{State: action.Needed, Intended: action.Facts{"share": w.Share}}
	err := w.use(ctx, on, func(s engine.Session) error {
		look, err := w.looker(ctx, s)
		if err != nil {
			return err
		}
		l, err := look(ctx)
		if l.warm {
			f.State = action.Satisfied
		}
		f.Reason = l.text
		return err
	})
	return f, err
}

// glance is what one look saw.
type glance struct {
	warm  bool
	share float64 // of the way to being warm; negative when that cannot be said
	text  string
}

// looker returns what looks: each call at what happened since the one before.
func (w *wait) looker(ctx context.Context, s engine.Session) (func(context.Context) (glance, error), error) {
	if w.empty() {
		return w.byMisses(s), nil
	}
	all, err := w.find(ctx, s)
	if err != nil {
		return nil, err
	}
	most := cheap
	if w.Costly {
		most = costly
	}
	return func(ctx context.Context) (glance, error) {
		share, err := inMemory(ctx, s, all, most)
		text := fmt.Sprintf("%.1f %% of %s in memory", 100*share, size(total(all)))
		return glance{warm: share >= w.Share, share: min(share/w.Share, 1), text: text}, err
	}, nil
}

func (w *wait) byMisses(s engine.Session) func(context.Context) (glance, error) {
	var before *counters
	return func(ctx context.Context) (glance, error) {
		now, err := count(ctx, s)
		if err != nil {
			return glance{}, err
		}
		last := before
		before = &now
		if last == nil || now.requests < last.requests {
			return glance{share: -1, text: "the first look"}, nil
		}
		requests, misses := now.requests-last.requests, now.misses-last.misses
		if requests < float64(w.Requests) {
			return glance{share: -1, text: fmt.Sprintf("only %.0f pages were requested, too few to judge", requests)}, nil
		}
		share := misses / requests
		text := fmt.Sprintf("%.2f %% of %.0f pages from disk", 100*share, requests)
		return glance{warm: share <= w.MissShare, share: -1, text: text}, nil
	}
}

func (w *wait) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	began := time.Now()
	last := glance{text: "not checked yet"}
	err := w.use(ctx, on, func(s engine.Session) error {
		look, err := w.looker(ctx, s)
		if err != nil {
			return err
		}
		hold := w.Hold
		if !w.empty() {
			hold = 0 // pages do not come and go by the second
		}
		var since time.Time
		for {
			if last, err = look(ctx); err != nil {
				return err
			}
			c.Progress(last.share, last.text)
			switch {
			case !last.warm:
				since = time.Time{}
			case since.IsZero():
				since = time.Now()
			}
			if last.warm && time.Since(since) >= hold {
				return nil
			}
			if err := poll.Rest(ctx, time.Second); err != nil {
				return fmt.Errorf("not warm: %w; %s", err, last.text)
			}
		}
	})
	return action.Facts{"found": last.text, "seconds": time.Since(began).Seconds()}, err
}

// Verify has nothing to look at: what was waited for was seen.
func (w *wait) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }
