package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

var repointAction = action.Action{
	Name: "mysql.repoint", Version: 1,
	About: "Makes every replica, and the old primary, replicate from a new primary. Its output lists those that did not answer or replicate from no server; the latter refuse writes after their next start too. Of a replica that follows servers outside of the cluster besides, the one channel that follows the cluster is changed; one where that is not certain is left as it is and listed.",
	New:   func() action.Task { return &repoint{} },
}

type repoint struct {
	Source string   `yaml:"source,required" doc:"The new primary."`
	Also   []string `yaml:"also" doc:"Nodes that do not replicate yet and should replicate from it too: the old primary."`
	Leave  []string `yaml:"leave" doc:"Nodes to leave alone, such as a dead one."`
}

var (
	_ action.Verifier = (*repoint)(nil)
	_ action.Bringer  = (*repoint)(nil)
)

// Brings is the replication of the nodes that did not replicate.
func (r *repoint) Brings(context.Context, *cluster.Cluster) []string {
	var all []string
	for _, node := range r.Also {
		all = append(all, replicationOf(node))
	}
	return all
}

func (r *repoint) Traits() action.Traits {
	return action.Traits{Effect: action.Irreversible, Repeatable: true}
}

func (r *repoint) Validate() error {
	for _, name := range r.Also {
		if slices.Contains(r.Leave, name) || name == r.Source {
			return fmt.Errorf("node %s is listed twice", name)
		}
	}
	return nil
}

// meant are the nodes that are to follow the source. loose are those that answer, follow nobody and are not among them: somebody has
// detached them, or was about to make one of them the primary.
func (r *repoint) meant(ctx context.Context, on *cluster.Cluster) (meant, loose []peer, err error) {
	all, err := ask(ctx, on)
	for _, p := range all {
		switch {
		case p.name == r.Source || slices.Contains(r.Leave, p.name):
		case r.isLoose(p):
			loose = append(loose, p)
		default:
			meant = append(meant, p)
		}
	}
	return meant, loose, err
}

func (r *repoint) isLoose(p peer) bool {
	return p.answers() && len(p.is.Sources) == 0 && !slices.Contains(r.Also, p.name)
}

// Check says whom each follows. Nodes that do not answer cannot be told anything.
func (r *repoint) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := action.Operated(ctx, on, "point replicas at another primary", "kube/switchover"); err != nil {
		return action.CheckResult{}, err
	}
	source, err := serverOf(ctx, on, r.Source)
	if err != nil {
		return action.CheckResult{}, err
	}
	nodes, loose, err := r.meant(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Satisfied, Observed: action.Facts{}, Intended: action.Facts{}}
	var reasons []string
	for _, n := range nodes {
		f.Observed[n.name], f.Intended[n.name] = n.silence(), source.address()
		if !n.answers() {
			f.State = action.Needed
			continue
		}
		s, err := serverOf(ctx, on, n.name)
		if err != nil {
			return f, err
		}
		from, left, err := leadable(ctx, s, n.is)
		if err != nil {
			return f, err
		}
		if left != "" {
			f.State, f.Observed[n.name], f.Intended[n.name] = action.Needed, n.is.Follows(), n.is.Follows()
			reasons = append(reasons, n.name+" is left out: "+left)
			continue
		}
		f.Observed[n.name] = from
		follows, err := link{s, source}.runs(ctx, n.is)
		if err != nil {
			return f, err
		}
		m, err := modeOf(ctx, s)
		if err != nil {
			return f, err
		}
		if !follows || !n.is.ReadOnly || m.opensAgain() {
			f.State = action.Needed
			if why := optionFile(s, m, "whether it accepts writes after a restart", closedAtStart(s)); why != "" {
				reasons = append(reasons, n.name+": "+why)
			}
		}
		if follows { // it was closed by an attempt before, and what clients wrote there is there still
			errant, err := link{s, source}.errant(ctx)
			if err != nil {
				return f, err
			}
			if len(errant) > 0 {
				f.State = action.Needed
			}
		}
	}
	f.Reason = strings.Join(reasons, "; ")
	if len(loose) > 0 { // they are told of, and refuse writes after their next start too
		f.State = action.Needed
	}
	return f, nil
}

func (r *repoint) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	source, err := serverOf(ctx, on, r.Source)
	if err != nil {
		return nil, err
	}
	nodes, loose, err := r.meant(ctx, on)
	if err != nil {
		return nil, err
	}
	left := map[string]any{}
	leave := func(n peer) {
		left[n.name] = fmt.Sprintf("it does not replicate from any server: run mysql/rejoin -i node=%s if it should replicate from %s", n.name, source.name())
		if err := staysClosed(ctx, on, n); err != nil {
			left[n.name] = fmt.Sprintf("%s; after its next start it may accept writes: %v", left[n.name], err)
		}
	}
	for _, n := range loose {
		leave(n)
	}
	var all error
	point := func(n peer) {
		out, err := r.one(ctx, on, n, source)
		if out != "" {
			left[n.name] = out
		}
		all = errors.Join(all, err) // the others must not wait for it
	}
	var silent []peer
	for i, n := range nodes {
		c.Progress(float64(i)/float64(len(nodes)), n.name)
		if n.answers() {
			point(n)
		} else {
			silent = append(silent, n)
		}
	}
	started, silent := awaitStarts(ctx, on, silent, c.Progress)
	for _, n := range started {
		if r.isLoose(n) {
			leave(n)
		} else {
			point(n)
		}
	}
	for _, n := range silent {
		err := startsClosed(ctx, on, n.name)
		left[n.name] = unfollowed(ctx, on, source, n)
		all = errors.Join(all, err)
	}
	out := action.Facts{"silent": names(silent)}
	if len(left) > 0 {
		out[action.LeftOut] = left
	}
	return out, all
}

// leadable is whom a node follows of the cluster. Of one with several sources that cannot be told, or that cannot be compared, it says why: it is left
// as it is, since the cluster needs a primary that the others follow.
func leadable(ctx context.Context, s *server, is engine.ReplicationStatus) (address, left string, err error) {
	beside, err := outsideOf(ctx, s, is)
	if err != nil {
		return "", "", err
	}
	_, from, err := beside.follows()
	if err = errors.Join(err, beside.refuseMixed()); err == nil {
		return from.Address, "", nil
	}
	refusal := (*hint.PermanentError)(nil)
	if !errors.As(err, &refusal) {
		return "", "", err
	}
	return "", refusal.Reason + ": " + refusal.Advice, nil
}

// staysClosed has a node that refuses writes refuse them after its next start too: a promotion of it may have been cut off.
func staysClosed(ctx context.Context, on *cluster.Cluster, n peer) error {
	if !n.is.ReadOnly {
		return nil
	}
	s, err := serverOf(ctx, on, n.name)
	if err != nil {
		return err
	}
	m, err := modeOf(ctx, s)
	if err != nil || !m.opensAgain() {
		return err
	}
	return keepMode(ctx, s, s.refusing())
}

// one makes a node follow the source, or says why it is left out. One that accepts writes refuses them first, whatever comes of the rest: it would be a
// second primary.
func (r *repoint) one(ctx context.Context, on *cluster.Cluster, n peer, source *server) (left string, err error) {
	s, err := serverOf(ctx, on, n.name)
	if err != nil {
		return "", err
	}
	m, err := modeOf(ctx, s)
	if err != nil {
		return "", err
	}
	if !n.is.ReadOnly || m.opensAgain() { // one that was about to be opened takes writes after a restart
		if err := setMode(ctx, s, s.refusing()); err != nil {
			return "", err
		}
	}
	if _, left, err = leadable(ctx, s, n.is); err != nil || left != "" {
		return left, err
	}
	if !n.is.ReadOnly { // clients may have written there until now
		if err := (link{s, source}).refuseErrant(ctx); err != nil {
			return "", wrote(s, source.name(), err)
		}
	}
	follows, err := link{s, source}.runs(ctx, n.is)
	if err != nil {
		return "", err
	}
	if follows {
		return "", link{s, source}.refuseErrant(ctx) // of an attempt that closed it
	}
	if err := (link{s, source}).mayBegin(ctx); err != nil {
		return "", err
	}
	return "", s.follow(ctx, source.asSource())
}

// wrote says of a node on which clients wrote beside the primary that they cannot any more, and how the run ends: the node cannot be made to follow.
func wrote(s *server, source string, err error) error {
	refusal := (*hint.PermanentError)(nil)
	if !errors.As(err, &refusal) {
		return err
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s accepted writes while %s was the primary, and is read-only now: %s", s.name(), source, refusal.Reason),
		Advice: fmt.Sprintf("find these transactions in its binary log and execute those that you need on %s. Then plimsoll runbook cancel RUN --leave REASON ends this run, whose primary is %[1]s. Then seed %s again: %s", source, s.name(), seedAgain(s)),
	}
}

// Verify holds when all that answered follow.
func (r *repoint) Verify(ctx context.Context, on *cluster.Cluster, output action.Facts) error {
	source, err := serverOf(ctx, on, r.Source)
	if err != nil {
		return err
	}
	nodes, _, err := r.meant(ctx, on)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if !n.answers() { // it may have answered before
			leaveOut(output, n.name, unfollowed(ctx, on, source, n))
			continue
		}
		s, err := serverOf(ctx, on, n.name)
		if err != nil {
			return err
		}
		if _, why, err := leadable(ctx, s, n.is); err != nil {
			return err
		} else if why != "" {
			leaveOut(output, n.name, why)
			continue
		}
		if follows, err := (link{s, source}).runs(ctx, n.is); err != nil || !follows {
			return errors.Join(fmt.Errorf("%s does not follow %s", n.name, source.name()), err)
		}
	}
	return nil
}

// leaveOut notes in an output that a node was left as it is, and why.
func leaveOut(output action.Facts, node, why string) {
	if output == nil {
		return
	}
	left, _ := output[action.LeftOut].(map[string]any)
	if left == nil {
		left = map[string]any{}
	}
	left[node] = why
	output[action.LeftOut] = left
}
