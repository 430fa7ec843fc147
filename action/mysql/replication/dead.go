package replication

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var confirmDeadAction = action.Action{
	Name: "mysql.confirm-dead", Version: 1,
	About: "Makes sure that a primary is dead: it must not answer several times in a row, and no replica may still be connected to it. Refused if it is alive.",
	New:   func() action.Task { return &confirmDead{Checks: 5, Every: 2 * time.Second} },
}

type confirmDead struct {
	Node   string        `yaml:"node,required" doc:"The primary."`
	Checks int           `yaml:"checks" doc:"How many times in a row it must not answer. Default 5."`
	Every  time.Duration `yaml:"every" doc:"The time between two checks. Default 2s."`
}

var (
	_ action.Verifier  = (*confirmDead)(nil)
	_ action.Validator = (*confirmDead)(nil)
)

func (d *confirmDead) Validate() error {
	if d.Checks < 3 || d.Every <= 0 {
		return fmt.Errorf("%d checks every %s, expected at least three and a time between them", d.Checks, d.Every)
	}
	return nil
}

func (d *confirmDead) Traits() action.Traits {
	return action.Traits{Effect: action.None, Repeatable: true, Interruptible: true}
}

// Check looks once: a primary that answers needs no failover.
func (d *confirmDead) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if _, err := d.look(ctx, on); err != nil {
		return action.CheckResult{}, err
	}
	return action.CheckResult{State: action.Needed, Observed: action.Facts{"answers": false}, Intended: action.Facts{"dead": true}}, nil
}

// look refuses a node that answers, with an error too. It returns, by name, what each of its replicas last heard of it, as far as they
// are connected to it, or to a server that is no other node and may be it.
func (d *confirmDead) look(ctx context.Context, on *cluster.Cluster) (map[string]hearing, error) {
	if _, err := on.Node(ctx, d.Node); err != nil {
		return nil, err
	}
	all, err := ask(ctx, on)
	if err != nil {
		return nil, err
	}
	heard := map[string]hearing{}
	for _, p := range all {
		switch {
		case p.name == d.Node && p.answers():
			if err := refuseLeaderless(on.Name, all); err != nil {
				return nil, err
			}
			return nil, &hint.PermanentError{Reason: d.Node + " answers", Advice: "a primary that answers is replaced by mysql/switchover -i to=NODE, and nothing is lost"}
		case p.name == d.Node && p.refusesUs():
			return nil, &hint.PermanentError{
				Reason: fmt.Sprintf("%s answers, with an error: it is not dead, and clients may write there: %v", d.Node, p.silent),
				Advice: "free connections, or check the user and password that Plimsoll logs in with; then try again, or use mysql/switchover -i to=NODE, which loses nothing",
			}
		case !p.answers():
			continue
		}
		for _, source := range p.is.Sources {
			of := followed(source, all)
			if source.Receives && of != nil && of.name == d.Node || mayBeSilent(source, p.is, all) {
				heard[p.name] = hearing{source.Heard, source.Address}
				break
			}
		}
	}
	return heard, nil
}

// refuseLeaderless says how a cluster gets a primary again of which all nodes answer and none accepts writes: a switchover that was stopped
// in its middle leaves it so, and neither a failover nor another switchover has a primary to begin with. Servers that follow one outside of the
// cluster have their primary there, and a single server may be read-only on purpose.
func refuseLeaderless(cluster string, all []peer) error {
	for _, p := range all {
		if !p.answers() || p.is.Primary() || followsOutside(p, all) || len(all) == 1 {
			return nil
		}
	}
	if i := slices.IndexFunc(all, peer.writable); i >= 0 {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s accepts writes%s: no node is a primary that replicates from no server", all[i].name, all[i].despite()),
			Advice: fmt.Sprintf("if %[1]s is the primary, make it replicate from no server: plimsoll runbook plan mysql/promote --cluster %[2]s -i node=%[1]s. If not, make it read-only, "+closing, all[i].name, hint.Quoted(cluster)),
		}
	}
	return &hint.PermanentError{
		Reason: "every node answers, and none accepts writes: a change was perhaps interrupted",
		Advice: fmt.Sprintf("plimsoll runbook status, in the state folder where such a run was begun, says how to continue it. If there is none, make a server the primary: "+
			"plimsoll runbook plan mysql/promote --cluster %[1]s -i node=NODE; then, for every node that replicates from no server: plimsoll runbook plan mysql/rejoin --cluster %[1]s -i node=NODE", hint.Quoted(cluster)),
	}
}

// followsOutside tells whether a server follows others, and none of them is a node of the cluster, as far as they are known by their address or number.
func followsOutside(p peer, all []peer) bool {
	return len(p.is.Sources) > 0 && !slices.ContainsFunc(p.is.Sources, func(s engine.Source) bool { return followed(s, all) != nil })
}

// hearing is what a replica last heard, and of which address.
type hearing struct{ last, from string }

// Act looks several times. A replica's connection to a server that hangs stays open for a while, so an open connection proves nothing.
// Events that arrive by it prove that the primary lives, once those that were on their way at first have arrived. A primary without writes sends a
// heartbeat only, so that silence proves nothing before the time of one has passed.
func (d *confirmDead) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	tick := time.NewTicker(d.Every)
	defer tick.Stop()
	began, silence := time.Now(), time.Duration(0)
	last := map[string]hearing{}
	var connected []string
	for check := 1; ; check++ {
		heard, err := d.look(ctx, on)
		if err != nil {
			return nil, err
		}
		connected = connected[:0]
		for replica, now := range heard {
			connected = append(connected, replica)
			if before, known := last[replica]; known && before != now && check > 2 {
				return nil, &hint.PermanentError{
					Reason: fmt.Sprintf("%s does not answer Plimsoll, but its replica %s still receives data from it, from address %s", d.Node, replica, now.from),
					Advice: fmt.Sprintf("the network between Plimsoll and the server is broken, not the server: clients may still write there; if %s is another server, stop replication on %s and try again", now.from, replica),
				}
			}
			last[replica] = now
		}
		slices.Sort(connected)
		if silence == 0 && len(connected) > 0 {
			silence = longestHeartbeat(ctx, on, connected) + heartbeatDelay
		}
		switch waited := time.Since(began); {
		case check < d.Checks:
			c.Progress(float64(check)/float64(d.Checks), fmt.Sprintf("%s does not answer, %d of %d", d.Node, check, d.Checks))
		case len(connected) > 0 && waited < silence:
			c.Progress(float64(waited)/float64(silence), fmt.Sprintf("%s does not answer, and %s is still connected to it: Plimsoll will know within %s whether it is alive", d.Node, strings.Join(connected, ", "), silence))
		default:
			if err := refuseUnheard(ctx, on, d.Node, connected); err != nil {
				return nil, err
			}
			return action.Facts{"checks": check, "replicas_still_connected": strings.Join(connected, ", ")}, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w; %d of %d checks were done", context.Cause(ctx), check, d.Checks)
		}
	}
}

// refuseUnheard refuses to judge by the silence of a primary to which a replica is connected that has no heartbeats from it: an idle one lives as silently.
func refuseUnheard(ctx context.Context, on *cluster.Cluster, primary string, replicas []string) error {
	for _, name := range replicas {
		s, err := serverOf(ctx, on, name)
		if err != nil {
			continue // it does not answer by now, and says nothing
		}
		said, err := s.value(ctx, admin.HeartbeatPeriod(s.mariadb))
		if seconds, wrong := strconv.ParseFloat(said, 64); err != nil || wrong != nil || seconds > 0 {
			continue
		}
		again := slices.Concat(s.dialect.StopReceiving(""), []string{"START SLAVE IO_THREAD"})
		if !s.mariadb {
			again = slices.Concat(s.dialect.StopReceiving(""), []string{"START REPLICA IO_THREAD FOR CHANNEL ''"})
		}
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s is still connected to %s and has heartbeats turned off (period 0): it does not hear whether %[2]s lives", name, primary),
			Advice: fmt.Sprintf("execute on %s: %s. If %s is dead it cannot connect again: then try again. If it can, clients may still write there", name, strings.Join(again, "; "), primary),
		}
	}
	return nil
}

const (
	usualHeartbeat = 30 * time.Second // half of the time after which a replica gives its connection up, as the servers have it by default
	heartbeatDelay = time.Second
)

// longestHeartbeat is after how long the slowest of these replicas hears from a primary that has nothing to send. One that does not say is taken to have
// what servers have by default.
func longestHeartbeat(ctx context.Context, on *cluster.Cluster, replicas []string) time.Duration {
	longest := time.Duration(0)
	for _, name := range replicas {
		period := usualHeartbeat
		if s, err := serverOf(ctx, on, name); err == nil {
			said, err := s.value(ctx, admin.HeartbeatPeriod(s.mariadb))
			if seconds, wrong := strconv.ParseFloat(said, 64); err == nil && wrong == nil && seconds > 0 {
				period = time.Duration(seconds * float64(time.Second))
			}
		}
		longest = max(longest, period)
	}
	return longest
}

// Verify looks once more.
func (d *confirmDead) Verify(ctx context.Context, on *cluster.Cluster, _ action.Facts) error {
	_, err := d.look(ctx, on)
	return err
}
