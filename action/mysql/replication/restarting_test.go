package replication

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
)

// A third server that is just restarting when the others follow a new primary is waited for: its option file opens it, and it would be a second server that
// accepts writes. One that does not come back is told of.
func TestAThirdServerThatRestartsIsClosedOnMariaDB(t *testing.T) {
	t.Parallel()
	restarting(newFixture(t, "mariadb", 3), "n3 may accept writes after its next start: put read_only = ON into its option file")
}

func TestAThirdServerThatRestartsIsClosedOnMySQL(t *testing.T) {
	t.Parallel()
	restarting(newFixture(t, "mysql", 3), "n3 may accept writes after its next start, unless super_read_only = ON is persisted there: put super_read_only = ON into its option file")
}

func restarting(w fixture, opens string) {
	ctx, n3 := w.Context(), w.cluster.Server("n3")
	services := &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, Replication: w.on.Replication, List: func(ctx context.Context) ([]cluster.Node, error) {
		nodes, err := w.on.List(ctx)
		nodes = slices.Clone(nodes)
		for i := range nodes {
			nodes[i].Server = plainServer{nodes[i].Server, w.cluster.Server(nodes[i].Name)}
		}
		return nodes, err
	}}
	services.AskRoles()
	w.Cleanup(func() { _ = services.Close() })
	outside := fixture{w.T, services, w.cluster}
	openFile := func() { w.must(cluster.Reassign(ctx, n3, map[string]string{modeNow: "OFF"})) }

	w.must(w.cluster.Kill(ctx, "n1"))
	w.stand(w.T, "n2", (*server).taking)
	openFile()
	w.must(w.cluster.Kill(ctx, "n3"))
	started, said := make(chan error, 1), ""
	out, err := outside.task(repointAction, `{source: n2, leave: [n1]}`).Act(ctx, services, action.Call{Token: "t", Progress: func(_ float64, text string) {
		if said == "" && strings.Contains(text, "n3 may be restarting") {
			said = text
			go func() { started <- n3.Start(ctx) }()
		}
	}})
	if said == "" {
		w.Fatalf("n3 was not waited for: %v, %v", out, err)
	}
	w.must(<-started)
	w.must(err)
	if want := "n3 may be restarting: waiting up to 15s for it to answer"; said != want {
		w.Errorf("it says %q, want %q", said, want)
	}
	if out[action.LeftOut] != nil {
		w.Errorf("left out %v", out[action.LeftOut])
	}
	s := outside.server("n3")
	is, err := s.status(ctx)
	if err != nil || !is.ReadOnly || is.Follows() != outside.server("n2").address() {
		w.Errorf("n3: %+v, %v, want that it refuses writes and follows n2", is, err)
	}

	// It does not come back: a person is told what it does then; of a server of a lab, Plimsoll sees to it.
	openFile()
	w.must(w.cluster.Kill(ctx, "n3"))
	task := outside.task(repointAction, `{source: n2, leave: [n1]}`)
	out = outside.does(repointAction, `{source: n2, leave: [n1]}`)
	left := func() string {
		all, _ := out[action.LeftOut].(map[string]any)
		return fmt.Sprint(all["n3"])
	}
	want := "it does not answer, and does not replicate from n2: run mysql/rejoin -i node=n3 when it is back"
	if left() != want+"; "+opens {
		w.Errorf("left out: %s, want %s; %s", left(), want, opens)
	}
	out = action.Facts{}
	if err := task.(action.Verifier).Verify(ctx, services.ReadOnly(), out); err != nil || left() != want+"; "+opens {
		w.Errorf("%v, left out: %s", err, left())
	}
	out = w.does(repointAction, `{source: n2, leave: [n1]}`)
	if own, err := n3.Assigned(ctx); err != nil || own[modeNow] != "ON" || left() != want {
		w.Errorf("n3 is started with read_only %s, %v; left out: %s, want %s", own[modeNow], err, left(), want)
	}
}
