package cql

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// diagnosis is what keeps a member from being up and normal, and what to do about it.
type diagnosis struct {
	is     string // "" if nothing more is known than the two letters
	advice string
	locked bool // another runbook is advised, which the cluster's lock keeps out
}

// What to do about members that are not up and normal. Each begins with what is safe.
const (
	safe        = "keyspaces with three replicas in a data centre still serve LOCAL_QUORUM without one of them. "
	ofNoCause   = "First bring these nodes to UN (up and normal), or replace one that will not come back: "
	ofMoving    = "A ring takes one change at a time: wait until it is done, then plimsoll runbook resume RUN"
	ofStopped   = "If it will not come back, replace it: "
	unlocked    = ". If this run has begun, it has the cluster's lock: release it before that with plimsoll runbook cancel RUN --leave REASON"
	ofHanging   = "Find out what it waits for (its disk, its memory, a paused host), let it continue or restart it, then plimsoll runbook resume RUN; the others' hints deliver what it missed, or run cql/repair if it was away for longer than they store hints (three hours)"
	ofFullDisk  = "Free some of its disk (nodetool clearsnapshot, nodetool cleanup, other files; never its commit log), start it again (%s), run cql/repair, then plimsoll runbook resume RUN; adding a node does not help before the others are cleaned up. To give it a larger disk, replace it: "
	ofNoClients = "Its log says why; nodetool enablegossip and enablebinary undo disablegossip and disablebinary, other causes need a restart"
	ofSeeds     = " is a seed: members do not need one to run, and a node that starts tries the next seed in its list; only a node with no other seed (seed_provider) has to wait for it"
)

// replacing is the runbook that puts another node in the place of one; "" is a member that Plimsoll does not know.
func replacing(node string) string {
	if node == "" {
		return "cql/replace-node"
	}
	return "cql/replace-node -i dead=" + node
}

// starting says how a node's server is started beside a run, which has the cluster's lock.
func (r *ring) starting(node string) string {
	if r.cluster.Environment == cluster.Lab {
		return "plimsoll lab start " + hint.Quoted(r.cluster.Name) + " --node " + node
	}
	return "on its machine, such as systemctl start cassandra"
}

// fullDisk is so little that a server cannot write any more: one segment of the commit log.
const fullDisk = 32 << 20

// answerTime is how long a member may take to answer before it is said to hang.
const answerTime = 3 * time.Second

// diagnose finds out what is wrong with a member, as far as can be seen from here.
func (r *ring) diagnose(ctx context.Context, m engine.Member) diagnosis {
	if m.Up {
		return diagnosis{advice: ofMoving}
	}
	at := slices.IndexFunc(r.nodes, func(n cluster.Node) bool {
		return view{Ring: engine.Ring{Members: []engine.Member{m}}, ring: r}.member(n) != nil
	})
	if at < 0 {
		return diagnosis{advice: ofNoCause + replacing(""), locked: true}
	}
	n := r.nodes[at]
	if free, known := freeOn(ctx, n); known && free < fullDisk {
		return diagnosis{fmt.Sprintf("its disk is full, with %s free for %s", megabytes(free), n.Data), fmt.Sprintf(ofFullDisk, r.starting(n.Name)) + replacing(n.Name), true}
	}
	if n.Server != nil {
		if running, err := n.Server.Running(ctx); err == nil && !running {
			return diagnosis{"its server is not running", "Start the server of " + n.Name + ": " + r.starting(n.Name) + "; then plimsoll runbook resume RUN. " + ofStopped + replacing(n.Name), true}
		}
	}
	return r.askedDirectly(ctx, n)
}

// askedDirectly tells a member that hangs from one that takes no clients.
func (r *ring) askedDirectly(ctx context.Context, n cluster.Node) diagnosis {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", n.Target.Addresses[0])
	if err != nil {
		if ctx.Err() != nil {
			return diagnosis{"nothing answers at " + n.Target.Addresses[0], ofHanging, false}
		}
		return diagnosis{"its server accepts no clients", ofNoClients, false}
	}
	_ = conn.Close()
	if err := r.cluster.Answers(ctx, n.Name); err != nil && ctx.Err() != nil {
		return diagnosis{"it accepts connections and does not answer: it hangs", ofHanging, false}
	}
	return diagnosis{advice: ofNoCause + replacing(n.Name), locked: true}
}

// refusal is that the ring is not healthy: who keeps it from being so, what is wrong with each as far as is known, what is
// safe, and how to go on.
func (v view) refusal(ctx context.Context, unfit []engine.Member) *hint.PermanentError {
	said, advice := v.diagnoses(ctx, unfit)
	return &hint.PermanentError{Reason: "the ring is not healthy: " + said, Advice: safe + advice}
}

// diagnoses are who is not fit with what is wrong with each, and what to do.
func (v view) diagnoses(ctx context.Context, unfit []engine.Member) (said, advice string) {
	var names, causes, todo []string
	locked := false
	seeds := v.seeds(ctx)
	for _, m := range unfit {
		names = append(names, named(m))
		found := diagnosis{advice: ofNoCause + replacing(""), locked: true}
		if v.ring != nil {
			found = v.ring.diagnose(ctx, m)
		}
		if found.is != "" {
			causes = append(causes, host(m.Address)+": "+found.is)
		}
		if slices.Contains(seeds, host(m.Address)) && !m.Up {
			causes = append(causes, host(m.Address)+ofSeeds)
		}
		locked = locked || found.locked
		if !slices.Contains(todo, found.advice) {
			todo = append(todo, found.advice)
		}
	}
	said = strings.Join(names, ", ")
	if len(causes) > 0 {
		said += "; " + strings.Join(causes, "; ")
	}
	advice = strings.Join(todo, ". ")
	if locked {
		advice += unlocked
	}
	return said, advice
}

// seeds are the addresses that the member which was asked would ask when it starts; none if it does not say.
func (v view) seeds(ctx context.Context) []string {
	db, ok := engine.As[engine.Configurable](v.db)
	if !ok {
		return nil
	}
	for _, name := range []string{"seed_provider.parameters", "seed_provider"} { // since Cassandra 4.1, and before
		if text, err := db.Setting(ctx, name); err == nil {
			return parseSeeds(text)
		}
	}
	return nil
}

// parseSeeds reads the list of a seed provider as system_views.settings shows it: …{seeds=10.0.0.1,10.0.0.2:7000}.
func parseSeeds(text string) []string {
	_, list, found := strings.Cut(text, "seeds=")
	if !found {
		return nil
	}
	if end := strings.IndexAny(list, "}]"); end >= 0 {
		list = list[:end]
	}
	var all []string
	for seed := range strings.SplitSeq(list, ",") {
		if seed = strings.TrimSpace(seed); seed != "" {
			all = append(all, host(seed))
		}
	}
	return all
}

// agreed refuses to begin while members have different versions of the schema: what is streamed then may not be understood.
func (v view) agreed() error {
	reason := v.disagreement()
	if reason == "" {
		return nil
	}
	return &hint.PermanentError{
		Reason: reason,
		Advice: "tables that all members know serve as usual; do not change the schema until they agree. After a CREATE or ALTER that takes " +
			"seconds: then plimsoll runbook resume RUN. If they still disagree, check whether the member hangs or the others cannot reach it; then run nodetool resetlocalschema on it, or restart it",
	}
}

// disagreement is who has which version of the schema; "" while all have the same.
func (v view) disagreement() string {
	with := v.Schemas()
	if len(with) < 2 {
		return ""
	}
	versions := slices.Sorted(maps.Keys(with))
	most := slices.MaxFunc(versions, func(a, b string) int { return len(with[a]) - len(with[b]) })
	var others []string
	for _, version := range versions {
		if version != most {
			others = append(others, fmt.Sprintf("%.8s on %s", version, strings.Join(hosts(with[version]), ", ")))
		}
	}
	return fmt.Sprintf("the members disagree about the schema: %d versions, %.8s on %s, and %s",
		len(versions), most, strings.Join(hosts(with[most]), ", "), strings.Join(others, ", "))
}

// hosts are addresses without their ports.
func hosts(addresses []string) []string {
	var all []string
	for _, a := range addresses {
		all = append(all, host(a))
	}
	return all
}

// freeOn is what is free for a node's data; false if its machine or folder is not known.
func freeOn(ctx context.Context, n cluster.Node) (int64, bool) {
	if n.Machine == nil || n.Data == "" {
		return 0, false
	}
	space, err := n.Machine.Space(ctx, n.Data)
	return space.DiskFree, err == nil
}
