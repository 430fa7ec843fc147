package cql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/cluster"
	"plimsoll/engine"
	enginecql "plimsoll/engine/cql"
	"plimsoll/hint"
	"plimsoll/lab"
)

// hangs freezes a node, as a host that is paused or waits for its disk would: its connections stay open, and it answers
// nothing. A load goes to the others meanwhile, and what would change the ring is refused.
func (w fixture) hangs(node string) {
	ctx := w.Context()
	n, err := w.on.Node(ctx, node)
	if err != nil {
		w.Fatal(err)
	}
	served, avoids, stop := w.serves()
	defer stop()
	w.until("the load is served", func() bool { return served() > 20 })
	if err := w.cluster.Server(node).Freeze(ctx); err != nil {
		w.Fatal(err)
	}
	w.until("the load keeps away from it", func() bool { return slices.Contains(avoids(), n.Target.Addresses[0]) })
	before := served()
	w.until("the others serve", func() bool { return served() > before+20 })
	w.silent("n1", n.Target.Addresses[0])
	w.until("the others know that it is away", func() bool { // and send it no change of the schema, which it might yet take
		db, err := w.on.Database(ctx, "n1")
		if err != nil {
			return false
		}
		ring, err := db.(engine.Ringed).Ring(ctx, "")
		m, known := ring.Find(n.Target.Addresses[0])
		return err == nil && known && !m.Up
	})
	w.changesSchema("n1")
	fresh := lab.AsCluster(w.cluster, enginecql.Engine{}, w.on.Local)
	w.claimsAtOnce(fresh)
	if err := fresh.Close(); err != nil {
		w.Fatal(err)
	}
	if err := w.on.Execute(ctx, "n1", []string{"DROP TABLE plimsoll.claim"}, func(int) {}); err != nil {
		w.Fatal(err)
	}
	w.claimsAtOnce(w.on) // which has asked about the ring before; the table is to be made
	w.refuses(w.task("cql.decommission", "node: n2"), "it accepts connections and does not answer: it hangs")
	if err := w.cluster.Server(node).Thaw(ctx); err != nil {
		w.Fatal(err)
	}
	w.until("the load returns to it", func() bool { return len(avoids()) == 0 })
	stop()
}

// silent expects that a node which hangs is named when all are asked for hints: it may keep some.
func (w fixture) silent(asked, hangs string) {
	db, err := w.on.Database(w.Context(), asked)
	if err != nil {
		w.Fatal(err)
	}
	_, err = db.(engine.Ringed).Hints(w.Context())
	var silent *engine.SilentError
	if !errors.As(err, &silent) || !slices.Contains(silent.Nodes, hangs) {
		w.Errorf("hints while %s hangs: %v", hangs, err)
	}
}

// changesSchema makes a table while a node hangs, for which the driver would wait.
func (w fixture) changesSchema(asked string) {
	w.until("there is another table", func() bool {
		ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
		defer cancel()
		_ = w.on.Execute(ctx, asked, []string{"CREATE TABLE IF NOT EXISTS plimsoll.later (id int PRIMARY KEY)"}, func(int) {})
		there, err := w.on.Value(w.Context(), asked, "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'plimsoll' AND table_name = 'later'")
		return err == nil && there == "later"
	})
}

// claimsAtOnce expects that a run gets the ring in a third of the minute that the driver would wait for a member that missed a change of
// the schema.
func (w fixture) claimsAtOnce(on *cluster.Cluster) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
	defer cancel()
	m, mine := cql.ClusterLock{Cluster: on}, action.Claim{Cluster: "c", Run: "late", Holder: "here", Epoch: 1, For: time.Minute}
	if err := m.Claim(ctx, mine); err != nil {
		w.Errorf("while a member is away that missed a change of the schema: %v", err)
	}
	if _, err := on.ReadOnly().Value(ctx, "n1", "SELECT run FROM plimsoll.claim WHERE id = 1"); err != nil {
		w.Errorf("read by a check meanwhile: %v", err)
	}
	if err := m.Clear(w.Context(), mine); err != nil {
		w.Fatal(err)
	}
}

// disagrees expects that a node which hung while the schema changed has another version when it is back. Nothing is begun, until it
// has taken the others', as it does by itself after a minute: on a machine that is so busy that nobody looks before, it is not seen.
func (w fixture) disagrees(node string) {
	ctx := w.Context()
	var refusal *hint.PermanentError
	seen := false
	w.until("it has missed a change of the schema", func() bool {
		_, err := w.task("cql.decommission", "node: n2").Check(ctx, w.on)
		if errors.As(err, &refusal) && strings.HasPrefix(refusal.Reason, "the members disagree about the schema: 2 versions") {
			seen = true
			return true
		}
		f, err := w.task("cql.wait-whole", "{}").Check(ctx, w.on)
		return err == nil && f.State == action.Satisfied
	})
	if !seen {
		w.Log("it had the schema before anybody looked")
		return
	}
	if !strings.HasSuffix(refusal.Reason, " on "+w.host(node)) || !strings.Contains(refusal.Advice, "resetlocalschema") {
		w.Errorf("refused: %s: %s", refusal.Reason, refusal.Advice)
	}
	n, err := w.on.Node(ctx, node)
	if err != nil {
		w.Fatal(err)
	}
	w.nodetool(n, "resetlocalschema")
	if _, err := w.task("cql.wait-whole", "{}").Act(ctx, w.on, call(action.CheckResult{})); err != nil {
		w.Fatal(err)
	}
}

// nodetool has a node do something; whether it does is seen by what comes of it.
func (w fixture) nodetool(n cluster.Node, args ...string) {
	c, err := n.Tool(args...)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := n.Machine.Run(w.Context(), c); err != nil {
		w.Logf("nodetool %s: %v", args[0], err)
	}
}

// serves reads from all nodes in turn until it is stopped: how often that went well so far, and of which nodes the load keeps
// away.
func (w fixture) serves() (served func() int64, avoids func() []string, stop func()) {
	target, err := w.cluster.Target()
	if err != nil {
		w.Fatal(err)
	}
	db, err := enginecql.Engine{}.Open(w.Context(), target)
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.Context())
	var readers sync.WaitGroup
	var well atomic.Int64
	for range 12 { // more than wait for the one that hangs, which is tried once a second
		readers.Go(func() {
			again := time.NewTicker(100 * time.Millisecond)
			defer again.Stop()
			for ctx.Err() == nil {
				if read(ctx, db) == nil {
					well.Add(1)
				}
				select {
				case <-again.C:
				case <-ctx.Done():
				}
			}
		})
	}
	return well.Load, db.(engine.Avoiding).Avoids, sync.OnceFunc(func() {
		cancel()
		readers.Wait()
		_ = db.Close() // it was only read from
	})
}

// read reads once, with the patience of a service.
func read(ctx context.Context, db engine.Database) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	session, err := db.Session(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return session.Exec(ctx, "SELECT run FROM plimsoll.claim WHERE id = 1", nil)
}
