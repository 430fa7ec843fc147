package execute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
	"plimsoll/runbook/lock"
)

// errParked ends a session whose run has not ended.
var errParked = errors.New("parked")

// session is durable.Work.
func (s *Service) session(ctx context.Context, j *durable.Journal) (err error) {
	altered := j.Verify(ctx)
	if broken := (*durable.AlteredError)(nil); altered != nil && !errors.As(altered, &broken) {
		return altered
	}
	st, err := journal.Fold(j.Entries(), s.Actions)
	if err != nil {
		return errors.Join(altered, fmt.Errorf("run %s: %w", j.Run(), err))
	}
	r := &runner{
		service: s, journal: j, state: st, jobs: map[string]*job{}, results: make(chan result), written: map[int]bool{}, claimRefused: map[string]bool{}, stopped: map[string]bool{},
		outside: context.WithoutCancel(ctx),
	}
	if altered != nil && !givesUp(j.Order()) {
		return altered // nothing is appended to it: what was cut off would not show any more
	}
	if len(j.Entries()) == 0 {
		if err := beginRun(ctx, r); err != nil {
			return err
		}
	}
	h := r.state.Header
	if r.cluster, err = lock.OpenAll(ctx, s.Open, h.Cluster, h.AllClusters()); err != nil {
		return parkRun(r, err.Error(), err)
	}
	r.reading = r.cluster.ReadOnly()
	defer func() { err = errors.Join(err, r.reading.Close(), r.cluster.Close()) }()
	if r.state.Unfit() == nil {
		meter := s.meter(r.state.Book, r.cluster)
		defer closeMeter(meter)
		r.guard = newGuard(r.state.Book, meter)
	} else {
		r.guard = newGuard(&runbook.Runbook{}, nil)
	}
	r.guard.restore(r.state)
	r.learned = s.learn(ctx, h.Runbook)
	if err := noteOpened(ctx, r); err != nil {
		return err
	}
	return workOn(ctx, r)
}

// givesUp tells whether a session was begun to give its run up as it is, which uses nothing that the journal says.
func givesUp(order json.RawMessage) bool {
	var o journal.Command
	return json.Unmarshal(order, &o) == nil && o.Do == journal.DoCancel && !o.Undo && o.Leave != ""
}

// workOn runs what belongs to a session beside its loop, and the loop.
func workOn(ctx context.Context, r *runner) error {
	background, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() { r.guard.watch(background) })
	for _, h := range r.held {
		beside.Go(func() { h.Keep(background) })
	}
	r.acting, r.cut = context.WithCancelCause(ctx)
	defer r.cut(nil)
	err := r.loop(ctx)
	if err != nil && !errors.Is(err, errParked) {
		err = sessionEnd(r, err)
	}
	r.cut(errParked)
	go r.group.Wait()
	for len(r.jobs) > 0 { // whatever still comes is not written: the next session checks
		if res := <-r.results; res.kept != nil {
			res.kept <- errParked
		} else {
			delete(r.jobs, res.key)
		}
	}
	stop()
	beside.Wait()
	err = errors.Join(err, giveLocksBack(context.WithoutCancel(ctx), r))
	if !errors.Is(err, durable.ErrTakenOver) { // who took it over tells of it
		r.tell(true)
	}
	if errors.Is(err, errParked) {
		return nil
	}
	return err
}

// sessionEnd says, of a session that cannot go on, which steps it leaves in the middle.
func sessionEnd(r *runner, err error) error {
	var acting []string
	for _, i := range r.state.Items {
		if i.Phase == journal.StepActing || i.Phase == journal.StepUndoing {
			acting = append(acting, i.Key)
		}
	}
	if len(acting) > 0 {
		err = fmt.Errorf("%w; step %s was acting: its outcome was not recorded, and is checked first when the run is resumed", err, strings.Join(acting, ", "))
	}
	if closed := closed(r, 10*time.Second); closed != "" {
		err = fmt.Errorf("%w; %s", err, closed)
	}
	return err
}

const nobodyAccepts = " reports that it accepts writes"

// closed says that nobody takes the writes of the cluster that a run has changed, as its servers say; "" if one does, or they do not say
// within that time.
func closed(r *runner, within time.Duration) string {
	if !slices.ContainsFunc(r.state.Items, func(i *journal.Step) bool { return i.Acts }) {
		return ""
	}
	limited, cancel := context.WithTimeout(r.outside, within)
	defer cancel()
	r.cluster.RolesChanged()
	if _, err := r.cluster.Primary(limited); !errors.Is(err, cluster.ErrNoPrimary) {
		return ""
	}
	return "no node of " + r.cluster.Name + nobodyAccepts
}

func beginRun(ctx context.Context, r *runner) error {
	run, err := r.service.Store.Run(ctx, r.journal.Run())
	if err != nil {
		return err
	}
	var h journal.Header
	if err := json.Unmarshal(run.Header, &h); err != nil {
		return fmt.Errorf("read the header of %s: %w", run.ID, err)
	}
	return r.write(journal.Event{Kind: journal.Began, Header: &h})
}

// noteOpened begins the session: it takes the leases, and writes what it was begun for. A session that its process's death
// interrupted has done so before; it takes them anew all the same, for the epoch.
func noteOpened(ctx context.Context, r *runner) error {
	var o journal.Command
	if err := json.Unmarshal(r.journal.Order(), &o); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	e := journal.Event{Kind: journal.Opened, Holder: r.service.Holder, Epochs: r.state.Epochs, Unclaimed: r.state.Unclaimed}
	if err := r.mayGoOn(&o, &e); err != nil {
		return parkRun(r, err.Error(), err)
	}
	if r.state.Book.Lock == runbook.LockCluster && o.Do == journal.DoCancel && !o.Undo {
		r.gone = takenByOthers(ctx, r)
	}
	// To be given up, a run needs no lease: it may have lost it.
	if r.state.Book.Lock == runbook.LockCluster && (o.Do != journal.DoCancel || o.Undo) {
		var err error
		if r.held, err = r.service.locks().Take(ctx, r.cluster, r.state, r.journal.Run(), lock.ShortPatience); err != nil {
			return parkRun(r, err.Error(), err)
		}
		e.Epochs, e.Unclaimed = r.held.Epochs(), r.held.Unclaimed()
	}
	if !openedBefore(r) {
		e.Order = &o
	}
	return r.write(e)
}

// takenByOthers tells whether another run has a cluster of this one, or had it since: then there is nothing to give back.
func takenByOthers(ctx context.Context, r *runner) bool {
	for _, name := range r.state.Header.AllClusters() {
		c := r.service.locks().Claim(r.state, name, r.journal.Run())
		if !c.Held {
			continue
		}
		var claimed *action.ClaimedError
		lease, err := r.service.Store.Lease(ctx, lock.LeaseName(name))
		if err == nil && lease.Holder != c.Run {
			return true
		}
		c.Epoch = max(c.Epoch, lease.Epoch)
		if one, err := r.cluster.Cluster(ctx, name); err == nil {
			limited, cancel := context.WithTimeout(ctx, lock.Clearing)
			if m := r.service.locks().ClusterLockOf(one); m != nil && errors.As(m.Claim(limited, c), &claimed) {
				cancel()
				return true
			}
			cancel()
		}
	}
	return false
}

// openedBefore tells whether this session has written its order.
func openedBefore(r *runner) bool {
	for _, entry := range r.journal.Entries() {
		var e journal.Event
		if entry.Session == r.journal.Session() && json.Unmarshal(entry.Data, &e) == nil && e.Kind == journal.Opened {
			return true
		}
	}
	return false
}

// giveLocksBack gives the clusters back when the run has ended for good; one that failed keeps them.
func giveLocksBack(ctx context.Context, r *runner) error {
	if r.state.Book.Lock != runbook.LockCluster || r.state.Outcome == "" || r.state.Outcome == journal.RunFailed {
		return nil
	}
	stays := func(name string, why error) error {
		if r.held.Claimed(name) && !journal.HadClaim(r.state, name) { // it was stored a moment ago
			if err := r.write(journal.Event{Kind: journal.Said, Claimed: true, Cluster: name}); err != nil {
				return err
			}
		}
		if !journal.HadClaim(r.state, name) {
			return r.write(journal.Event{Kind: journal.Said, Cluster: name, Reason: fmt.Sprintf("%s: cluster %s: %s", neverClaimed, name, journal.OneLine(why))})
		}
		return r.write(journal.Event{Kind: journal.Said, Claim: true, Cluster: name, Reason: fmt.Sprintf("%s, which removes it, or until plimsoll runbook resume %s does: cluster %s: %s",
			claimStays, r.journal.Run(), name, journal.OneLine(why))})
	}
	if len(r.held) > 0 {
		return r.held.Release(ctx, stays)
	}
	var all error
	for _, name := range r.state.Header.AllClusters() {
		if why := unclaim(ctx, r, name); why != nil {
			all = errors.Join(all, stays(name, why))
		}
		all = errors.Join(all, r.service.Store.Release(ctx, lock.LeaseName(name), r.journal.Run()))
	}
	return all
}

// claimStays is what a run says of a claim that it could not take back, as its cluster did not answer.
const claimStays = "the claim stays in the cluster until the next run from this machine"

// neverClaimed is what a run says instead where its claim is not known to have been stored: the cluster is released.
const neverClaimed = "the cluster never confirmed that it has the claim of this run, and does not answer now; if the claim is there, the next run from this machine removes it"

// unclaim takes the run's own claim from a cluster, if it is still there. It may be of a later epoch than the journal tells: a
// process that died when it had taken the cluster wrote nothing of it.
func unclaim(ctx context.Context, r *runner, name string) error {
	one, err := r.cluster.Cluster(ctx, name)
	if err != nil {
		return err
	}
	m := r.service.locks().ClusterLockOf(one)
	if m == nil {
		return nil
	}
	c := r.service.locks().Claim(r.state, name, r.journal.Run())
	if lease, err := r.service.Store.Lease(ctx, lock.LeaseName(name)); err == nil && lease.Holder == c.Run {
		c.Epoch = max(c.Epoch, lease.Epoch)
	}
	limited, cancel := context.WithTimeout(ctx, lock.LongPatience)
	defer cancel()
	return m.Clear(limited, c)
}

// parkRun ends the session and leaves the run for a later one; of a run that has ended already, nothing is written behind its end.
func parkRun(r *runner, reason string, cause error) error {
	if r.state.Outcome.Over() {
		return cause
	}
	if past(cause) {
		reason += standing(r.state)
	}
	e := parkedEvent(r, reason)
	e.Past = past(cause)
	if err := r.write(*e); err != nil {
		return err
	}
	r.tell(true)
	return cause
}

// past tells whether a run was parked since another had its cluster, so that it can never be resumed.
func past(cause error) bool {
	var claimed *action.ClaimedError
	return errors.Is(cause, lock.ErrFenced) || errors.As(cause, &claimed) && claimed.Past()
}

// rememberShown keeps what the run leaves undone, and how long the steps took, for the estimates of later runs.
func rememberShown(ctx context.Context, r *runner) error {
	if err := keepRemainders(ctx, r.service, r.journal.Run(), r.state, whileOpen(r.cluster)); err != nil {
		return err
	}
	if r.state.Outcome != journal.RunDone {
		return nil
	}
	data, err := json.Marshal(r.state.Timings())
	if err != nil {
		return fmt.Errorf("keep the timings: %w", err)
	}
	return r.service.Store.Keep(ctx, "timing", r.state.Header.Runbook, data)
}
