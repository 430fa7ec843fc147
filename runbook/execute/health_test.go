package execute

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/runbook/journal"
)

// frail is an engine of whose nodes those do not answer for which there is a file ill-NODE.
type frail struct {
	engine.Engine
	folder string
}

type frailDatabase struct {
	engine.Database
	file string
}

func (frail) Name() string { return "frail" }

func (e frail) Open(_ context.Context, t engine.Target) (engine.Database, error) {
	return frailDatabase{file: filepath.Join(e.folder, "ill-"+t.Addresses[0])}, nil
}

func (d frailDatabase) Facts(context.Context) (engine.Facts, error) {
	if _, err := os.Stat(d.file); err == nil {
		return engine.Facts{}, errors.New("refused")
	}
	return engine.Facts{}, nil
}

func (frailDatabase) Close() error { return nil }

// Each target that is worked on leaves its node ill.
func TestNoTargetBeginsBesideANodeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	plain := b.Open
	b.Open = func(ctx context.Context, name string) (*cluster.Cluster, error) {
		on, err := plain(ctx, name)
		if err != nil {
			return nil, err
		}
		list := on.List
		on.Engine, on.List = frail{folder: b.folder}, func(ctx context.Context) ([]cluster.Node, error) {
			nodes, err := list(ctx)
			for i := range nodes {
				nodes[i].Target = engine.Target{Addresses: []string{nodes[i].Name}}
			}
			return nodes, err
		}
		return on, nil
	}
	run := b.begin(Request{Book: b.parse(`
runbook: test/frail
steps:
  - id: each
    rolling: {settle: 1900ms}
    steps:
      - {id: work, uses: command, with: {run: "echo ${{ target }} >> DIR/log; touch DIR/ill-${{ target }}", repeatable: true}}
`)})
	order := journal.Command{Do: "run"}
	for n, node := range []string{"n2", "n3", "n1"} {
		st := b.runSession(run, order)
		if got := strings.Fields(b.read("log")); len(got) != n+1 || got[n] != node {
			t.Fatalf("worked on %v, want %s as the %d.", got, node, n+1)
		}
		if last := n == 2; last != (st.Outcome == journal.RunDone) {
			t.Errorf("after %s: outcome %q", node, st.Outcome)
		} else if !last && (st.Outcome != journal.RunFailed || !strings.Contains(st.Why, "the cluster is not healthy: node "+node+": refused")) {
			t.Errorf("after %s: %s: %q", node, st.Outcome, st.Why)
		}
		b.remove("ill-" + node)
		order = journal.Command{Do: "resume"}
	}
	if ready := b.events(run, journal.Ready); len(ready) != 3 {
		t.Errorf("looked at the cluster's health: %+v", ready)
	}
}
