package faulttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/poll"
)

// clusterSnapshot is what the servers of a cluster say of themselves, where they play different parts.
type clusterSnapshot struct {
	writable   []string // take writes of their own
	unattached []string // answer, take no writes, and do not follow the one that does
}

// look asks the cluster itself: who takes writes, and who follows it. It is empty for engines whose servers are all alike.
func look(ctx context.Context, on *cluster.Cluster) (w clusterSnapshot, err error) {
	nodes, err := on.List(ctx)
	if err != nil {
		return w, fmt.Errorf("list the nodes: %w", err)
	}
	standings := map[string]engine.ReplicationStatus{}
	addresses := map[string]string{}
	for _, n := range nodes {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		if db, err := on.Database(limited, n.Name); err == nil {
			if r, ok := engine.As[engine.Replicated](db); ok {
				if is, err := r.ReplicationStatus(limited); err == nil {
					standings[n.Name] = is
					addresses[n.Name] = n.Target.Addresses[0]
				}
			}
		}
		cancel()
	}
	for name, is := range standings {
		if is.Primary() {
			w.writable = append(w.writable, name)
		}
	}
	slices.Sort(w.writable)
	for name, is := range standings {
		if is.Primary() {
			continue
		}
		follows := slices.ContainsFunc(is.Sources, func(s engine.Source) bool {
			return s.Receives && s.Applies && slices.ContainsFunc(w.writable, func(p string) bool { return s.Address == addresses[p] || s.ServerID == standings[p].ServerID })
		})
		if !follows {
			w.unattached = append(w.unattached, name)
		}
	}
	slices.Sort(w.unattached)
	return w, ctx.Err()
}

// lookingTime is how long servers may take to follow again when a run has ended.
const lookingTime = 15 * time.Second

// examineCluster looks at the cluster itself when a run has ended by itself, taken back or done: one server takes writes, everyone
// that answers follows it. What was otherwise before the try is not held against it.
func (t *Torture) examineCluster(ctx context.Context, o *Report, test string) (err error) {
	on, err := t.Open(ctx, t.Request.Cluster)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	o.Looks++
	end := time.Now().Add(lookingTime)
	for {
		wrong, err := differences(ctx, t, on)
		if err != nil || len(wrong) == 0 {
			return err
		}
		if !time.Now().Before(end) {
			for _, text := range wrong {
				o.trouble(test, "", text)
			}
			return nil
		}
		if err := poll.Rest(ctx, time.Second); err != nil {
			return err
		}
		on.RolesChanged()
	}
}

func differences(ctx context.Context, t *Torture, on *cluster.Cluster) (all []string, err error) {
	now, err := look(ctx, on)
	if err != nil {
		return nil, err
	}
	if len(now.writable) != 1 && len(t.snapshot.writable) == 1 {
		all = append(all, fmt.Sprintf("%d servers take writes: %s", len(now.writable), strings.Join(now.writable, ", ")))
	}
	for _, name := range now.unattached {
		if !slices.Contains(t.snapshot.unattached, name) && len(t.snapshot.writable) == 1 {
			all = append(all, name+" does not follow the server that takes writes")
		}
	}
	return all, nil
}

// examineClaim looks whether an ended run has left its claim in the cluster. To look it takes the cluster itself, for a second: a run
// that had it before is refused afterwards, so this comes last.
func (t *Torture) examineClaim(ctx context.Context, o *Report, test, run string) (err error) {
	if t.ClusterLock == nil {
		return nil
	}
	on, err := t.Open(ctx, t.Request.Cluster)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	m := t.ClusterLock(on)
	if m == nil {
		return nil
	}
	claim := action.Claim{Cluster: t.Request.Cluster, Run: "torture-looks", Holder: "torture", Epoch: 1, For: time.Second, Stored: true} // nobody need see this one
	err = m.Claim(ctx, claim)
	var claimed *action.ClaimedError
	if errors.As(err, &claimed) {
		if claimed.Run == run {
			o.trouble(test, "", "the run has ended, and its claim is left in the cluster")
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask the cluster whose it is: %w", err)
	}
	return m.Clear(ctx, claim)
}
