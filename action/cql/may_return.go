package cql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
)

var mayReturnAction = action.Action{
	Name: "cql.may-return", Version: 1,
	About: "Checks a member before it is started again with its old data, on any machine: refuses one that the ring has removed, and one that was away for longer than deletions are kept (gc_grace_seconds). Its output is host, the host id; away, in seconds; and repair, which is yes if it was away for longer than hints are kept.",
	New:   func() action.Task { return &mayReturn{Stale: "no"} },
}

type mayReturn struct {
	Node   string `yaml:"node,required" doc:"The node whose machine has the data now."`
	Of     string `yaml:"of" doc:"The node that the data belongs to, if it ran on another machine. Default: the same node."`
	Data   string `yaml:"data" doc:"The folder on that machine that contains its data. Default, in a lab: the node's."`
	Accept string `yaml:"accept_resurrection" doc:"Tables or keyspaces, separated by commas, of which deleted rows may come back. Default: none."`
	Stale  string `yaml:"accept_stale" doc:"yes: the data may lack writes that the node had acknowledged before it went away, which no hint delivers, so it must be repaired. Default no."`
}

var (
	_ action.Verifier         = (*mayReturn)(nil)
	_ action.ApprovalDemander = (*mayReturn)(nil)
	_ action.Validator        = (*mayReturn)(nil)
)

func (m *mayReturn) Validate() error {
	if m.Stale != "yes" && m.Stale != "no" {
		return errors.New("accept_stale is yes or no")
	}
	return nil
}

func (m *mayReturn) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

func (m *mayReturn) was() string {
	if m.Of != "" {
		return m.Of
	}
	return m.Node
}

// unsure is the observation why Plimsoll cannot tell whether a node may come back.
const unsure = "not known"

// Check always finds it needed: its output is what later steps go by.
func (m *mayReturn) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{}, Intended: action.Facts{"away": "for less than deletions are kept"}}
	seen, err := m.look(ctx, on)
	if err != nil {
		return f, err
	}
	f.Reason = seen.later
	if seen.doubt != "" {
		f.Reason, f.Observed[unsure] = seen.doubt, true
	}
	if seen.host != "" {
		f.Observed["host"] = seen.host
	}
	return f, nil
}

// ApprovalReason has a person decide where nobody can tell.
func (m *mayReturn) ApprovalReason(f action.CheckResult) string {
	if doubt, _ := f.Observed[unsure].(bool); doubt {
		return f.Reason
	}
	return ""
}

func (m *mayReturn) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	seen, err := m.look(ctx, on)
	if err != nil {
		return nil, action.NothingDone{Err: err}
	}
	if seen.later != "" {
		return nil, action.NothingDone{Err: errors.New(seen.later)}
	}
	out := action.Facts{"host": seen.host, "away": int64(seen.away.Seconds()), "repair": "no"}
	if seen.repair || seen.doubt != "" {
		out["repair"] = "yes"
	}
	return out, nil
}

// Verify has nothing to add: it only looked.
func (m *mayReturn) Verify(context.Context, *cluster.Cluster, action.Facts) error { return nil }

// returning is what is known of a node that is to come back.
type returning struct {
	host   string
	away   time.Duration
	repair bool
	later  string // what an earlier step has to bring
	doubt  string // why Plimsoll cannot tell whether it may
}

func (m *mayReturn) look(ctx context.Context, on *cluster.Cluster) (is returning, err error) {
	was, err := on.Node(ctx, m.was())
	if err != nil {
		return is, err
	}
	n, err := on.Node(ctx, m.Node)
	if err != nil {
		return is, err
	}
	r, err := ringOf(ctx, on)
	if err != nil {
		return is, err
	}
	if r.alone(was) && r.alone(n) {
		return is, nil // nobody purges anything without it, or keeps what it misses
	}
	v, err := r.view(ctx, was.Name)
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, errOtherTables) {
			return is, err
		}
		is.doubt = fmt.Sprintf("no other node tells whether %s is still a member, and for how long deletions and hints are kept (%v): are you certain that it was neither removed nor replaced, and was away for less than gc_grace_seconds?", was.Name, err)
		return is, nil
	}
	member := v.member(was)
	if member == nil && was.Name != n.Name { // begun anew, it has come back there already
		member = v.member(n)
	}
	if member == nil {
		return is, &hint.PermanentError{Reason: fmt.Sprintf("the ring has no member at %s: node %s was removed or replaced while it was away", was.Target.Addresses[0], was.Name),
			Advice: "the node was not started, and the ring's data is safe. Its old data must not come back: empty its data folder, mark it spare: true in the inventory, then cql/add-node -i node=" + n.Name}
	}
	is.host = member.Host
	if running, err := serverRuns(ctx, n); err != nil || running && !drained(ctx, n) {
		is.later = "node " + n.Name + " is still running"
		if member.Up && v.member(n) == member {
			is.later = ""
		}
		return is, err
	}
	folder := m.Data
	if n.Data != "" {
		folder = n.Data
	}
	if n.Machine == nil || folder == "" {
		is.doubt = fmt.Sprintf("Plimsoll does not know where node %s keeps its data, so it cannot tell for how long the node was away. Was it less than gc_grace_seconds?", n.Name)
		return is, nil
	}
	asked := time.Now()
	newest, now, err := newestFile(ctx, n.Machine, folder)
	if err != nil {
		return is, err
	}
	if err := clockFits(n.Name, now, asked, time.Now()); err != nil {
		return is, err
	}
	if newest.IsZero() {
		is.later = fmt.Sprintf("there is no data of a server at %s on the machine of node %s", folder, n.Name)
		return is, nil
	}
	away, told := absence(newest, now)
	if is.away = away; !told {
		is.doubt = fmt.Sprintf("the newest file in %s is of %s, and the clock of the machine of node %s says %s: Plimsoll cannot tell for how long the node was away. Was it less than gc_grace_seconds?",
			folder, newest.Format(time.DateTime), n.Name, now.Format(time.DateTime))
		return is, nil
	}
	kept, err := termsOf(ctx, on, v.node)
	if err != nil {
		return is, err
	}
	is.repair, err = kept.toReturn(was.Name, away, m.Accept)
	is.repair = is.repair || m.Stale == "yes"
	return is, err
}

// Returning is what a cluster asks before it starts a node's server again (cluster.Cluster.Returning).
func Returning(ctx context.Context, on *cluster.Cluster, node string) (repair bool, err error) {
	n, err := on.Node(ctx, node)
	if err != nil {
		return false, err
	}
	return mayStart(ctx, on, n, "", "")
}

// mayStart refuses to start a node that the ring has removed, or that was away for longer than deletions are kept, and tells whether it was away
// for longer than hints are kept. Where that cannot be told, as where no other node runs, it is started: a person was asked, if it was
// cql.may-return that found it.
func mayStart(ctx context.Context, on *cluster.Cluster, n cluster.Node, data, accepted string) (repair bool, err error) {
	m := mayReturn{Node: n.Name, Data: data, Accept: accepted, Stale: "no"}
	is, err := m.look(ctx, on)
	return is.repair, err
}

// drained tells whether a server that runs serves nobody any more: it is away as one that is stopped.
func drained(ctx context.Context, n cluster.Node) bool {
	if tooled(n) != nil || n.Loose {
		return false
	}
	is, err := mode(ctx, n)
	return err == nil && is == "DRAINED"
}

func serverRuns(ctx context.Context, n cluster.Node) (bool, error) {
	if n.Server == nil {
		return false, nil
	}
	return n.Server.Running(ctx)
}

// newestFile is when somebody last wrote into a folder, and what its machine's clock says; zero if there is no file.
func newestFile(ctx context.Context, m infra.Machine, folder string) (newest, now time.Time, err error) {
	const script = `date +%s; [ ! -d "$1" ] || find "$1" -type f -printf '%T@\n' | sort -n | tail -n 1`
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script, "sh", folder}})
	if err != nil {
		return newest, now, fmt.Errorf("look for the newest file in %s: %w", folder, err)
	}
	said := strings.Fields(string(out.Stdout))
	if len(said) == 0 || len(said) > 2 {
		return newest, now, fmt.Errorf("look for the newest file in %s: it says %.100q", folder, out.Stdout)
	}
	if now, err = moment(said[0]); err == nil && len(said) == 2 {
		newest, err = moment(said[1])
	}
	return newest, now, err
}

// moment reads seconds since 1970.
func moment(text string) (time.Time, error) {
	whole, _, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the time %.30q: %w", text, err)
	}
	return time.Unix(seconds, 0), nil
}
