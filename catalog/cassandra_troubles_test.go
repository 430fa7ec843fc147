package catalog

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/analyze"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/labtest"
	"plimsoll/internal/poll"
	"plimsoll/lab"
	"plimsoll/series"
)

// Trials change a real ring while something goes wrong with it. Each says what that was, whatever became of the change, and by its
// ledger no write is lost. It takes a ring of its own for minutes: make soak, docs/soak.md.
func TestTroublesOfARingInTrials(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes many minutes: make soak")
	}
	t.Parallel()
	ring := labtest.UpSpec(t, lab.Spec{Name: "troubled", Product: "cassandra", Nodes: 3, Config: map[string]string{
		"cassandra.schema_pull_interval_ms": "3600000", // every minute else, whenever that is: a node that missed a change of the schema is to be met
	}})
	w := &troubled{of: t, ring: ring, since: time.Now()}
	w.prepares()
	for _, trouble := range []struct {
		name  string
		plays func()
	}{
		{"a joining node is killed", w.joinerKilled}, {"a wrong data centre", w.wrongCentre},
		{"members that disagree about the schema", w.disagreement},
		{"a disk is full", w.diskFull}, {"a seed is down", w.seedDown},
	} {
		if !t.Run(trouble.name, func(t *testing.T) { w.T = t; trouble.plays() }) {
			return // the next would meet another ring
		}
	}
}

// troubled is a ring that trials put under load.
type troubled struct {
	*testing.T            // of the trial that is under way
	of         *testing.T // of all
	ring       labtest.Server
	since      time.Time     // when it was up
	disk       *labtest.Disk // the fourth node's, nil if none could be mounted
}

// fourth is the node that joins.
const fourth = "n4"

// joinerKilled kills a node half-way into the ring: it is started again, and comes.
func (w *troubled) joinerKilled() {
	cluster := w.ring.Cluster
	node, err := cluster.Growth().Grow(w.Context(), "fourth", map[string]string{"cassandra.ring_delay_ms": "15000"}) // so that it is met half-way
	if err != nil || node != fourth {
		w.Fatalf("%s, %v", node, err)
	}
	if w.disk, err = labtest.SmallDisk(w.of, w.node(fourth).Data, "1g"); err != nil {
		w.Log(err)
	}
	var killed sync.WaitGroup
	defer killed.Wait()
	result := w.trial(`{run: cql/add-node, with: {node: n4, cleanup: "no"}, limit: 8m}`, watching{"join": func() {
		killed.Go(func() {
			w.until("it joins", func() bool { return w.part(fourth) == engine.Joining })
			if err := cluster.Server(fourth).Kill(w.Context()); err != nil {
				w.Error(err)
			}
		})
	}})
	killed.Wait()
	const said = "its server stopped while it was joining; it was started again"
	w.says(result, analyze.Pass, said)
	if !slices.ContainsFunc(result.Events, func(e series.Event) bool {
		return e.Kind == "step.end" && e.Name == "join" && slices.Contains(action.Facts(e.Detail).Troubles(), said)
	}) {
		w.Errorf("no event of the step tells of it: %+v", result.Events)
	}
	if is := w.part(fourth); is != engine.Normal {
		w.Errorf("the ring has %s as %q", fourth, is)
	}
}

// wrongCentre has a node come that is configured for another data centre.
func (w *troubled) wrongCentre() {
	stray, err := w.ring.Cluster.Growth().Grow(w.Context(), "stray", map[string]string{"dc": "dc2"})
	if err != nil {
		w.Fatal(err)
	}
	result := w.trial("{run: cql/add-node, with: {node: "+stray+"}, limit: 8m}", nil)
	w.says(result, analyze.Fail, stray+" is in data centre dc2, which has no other member", "the ring's data is safe")
	if err := w.ring.Cluster.Growth().Remove(w.Context(), stray); err != nil {
		w.Fatal(err)
	}
}

// disagreement has a node miss a change of the schema: it hangs, and the others know it, so that nobody sends it the change. When it is
// back it takes the change from them by itself, but not before pulls has passed.
func (w *troubled) disagreement() {
	inLab, on := w.ring.Cluster, w.on()
	defer func() { _ = on.Close() }()
	if err := poll.Rest(w.Context(), time.Until(w.since.Add(pulls))); err != nil { // a younger node takes it at once
		w.Fatal(err)
	}
	result := w.meanwhile(func() {
		if err := inLab.Server("n3").Freeze(w.Context()); err != nil {
			w.Error(err)
		}
		w.until("it is known to be away", func() bool { is, known := w.member("n3"); return known && !is.Up })
		w.until("who makes the change knows it too", func() bool {
			return strings.Contains(w.nodetool(w.node("n1"), "status"), "DN  "+w.host(w.node("n3"))+" ")
		})
		w.makes(on, "missed")
		if err := inLab.Server("n3").Thaw(w.Context()); err != nil {
			w.Error(err)
		}
		w.until("it is back, with another version", func() bool {
			ring, err := w.ring.Database.(engine.Ringed).Ring(w.Context(), w.node("n1").Target.Addresses[0])
			return err == nil && len(ring.Schemas()) == 2
		})
	})
	w.says(result, analyze.Fail, "the members disagree about the schema: 2 versions", "tables that all members know serve as usual")
	w.nodetool(w.node("n3"), "resetlocalschema")
	w.whole()
}

// pulls is how long a node waits before it takes a version of the schema that it hears of (cassandra.migration_delay_ms).
const pulls = time.Minute

// diskFull lets the disk of a node become full.
func (w *troubled) diskFull() {
	if w.disk == nil {
		w.Skip("no small disk could be mounted in the place of a node's data folder")
	}
	full, on := w.node(fourth), w.on()
	defer func() { _ = on.Close() }()
	result := w.meanwhile(func() {
		w.until("its disk is full", func() bool {
			if err := w.disk.Fill(); err != nil {
				w.Error(err)
			}
			w.nodetool(full, "flush")
			_, err := w.leaves().Check(w.Context(), on)
			return err != nil && strings.Contains(err.Error(), "its disk is full")
		})
	})
	w.says(result, analyze.Fail, w.host(full)+": its disk is full, with ", "start it again (plimsoll lab start ", "), plimsoll runbook plan cql/repair --cluster ")
	if err := w.disk.Free(); err != nil {
		w.Fatal(err)
	}
	if err := w.ring.Cluster.Server(fourth).Kill(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.claims()
	w.starts(fourth)
}

// makes makes a table, for which the driver waits until all agree that there is one: not longer than need be.
func (w *troubled) makes(on *cluster.Cluster, table string) {
	w.until("there is another table", func() bool {
		ctx, cancel := context.WithTimeout(w.Context(), 20*time.Second)
		defer cancel()
		_ = on.Execute(ctx, "n1", []string{"CREATE TABLE IF NOT EXISTS plimsoll." + table + " (id int PRIMARY KEY)"}, func(int) {})
		there, err := on.Value(w.Context(), "n1", "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'plimsoll' AND table_name = '"+table+"'")
		return err == nil && there == table
	})
}

// claims takes the ring while a member is down that has missed a change of the schema: nobody waits for it to agree.
func (w *troubled) claims() {
	on, fresh := w.on(), w.on() // the one without a session yet
	defer func() { _ = errors.Join(on.Close(), fresh.Close()) }()
	w.makes(on, "unknown")
	claim := action.Claim{Cluster: "ring", Run: "beside-a-dead-one", Holder: "test", Epoch: 1, For: time.Minute}
	w.until("the ring is taken", func() bool {
		ctx, cancel := context.WithTimeout(w.Context(), 8*time.Second) // as long as a run waits for an answer
		defer cancel()
		return ClusterLock(fresh).Claim(ctx, claim) == nil
	})
	if run, err := on.Value(w.Context(), "n1", "SELECT run FROM plimsoll.claim"); err != nil || run != claim.Run {
		w.Errorf("the claim is of %q, %v", run, err)
	}
	if err := ClusterLock(fresh).Clear(w.Context(), claim); err != nil {
		w.Error(err)
	}
}

// seedDown stops the node that the others know first.
func (w *troubled) seedDown() {
	seed := w.node("n1")
	result := w.meanwhile(func() {
		if err := w.ring.Cluster.Stop(w.Context(), seed.Name); err != nil {
			w.Error(err)
		}
	})
	w.says(result, analyze.Fail, w.host(seed)+": its server is not running; "+w.host(seed)+" is a seed", "Start the server of "+seed.Name+": plimsoll lab start ")
	w.starts(seed.Name)
}
