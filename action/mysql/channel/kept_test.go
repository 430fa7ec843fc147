package channel

import (
	"context"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
)

// A MySQL that does not load what is persisted starts as its option file says: it is told what to put there, and nothing is persisted that would win
// over it in a start that loads it.
func TestACutOverOfServersThatIgnoreWhatIsPersisted(t *testing.T) {
	w := newFixtureWith(t, "mysql", 2, map[string]string{"persisted_globals_load": "OFF"})
	nodes, err := w.on.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range nodes {
		nodes[i].Server = nil
	}
	remote := &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}
	defer func() { _ = remote.Close() }()
	w.do("n1", "SET PERSIST_ONLY super_read_only = OFF")
	for on, want := range map[*cluster.Cluster]string{
		remote: "option files decide which server accepts writes after a restart: put super_read_only = ON into that of n1, and remove read_only and super_read_only from that of n2",
		w.on:   "",
	} {
		from, to, err := pair(t.Context(), on, "n1", "n2")
		if err != nil {
			t.Fatal(err)
		}
		defer closeAll(from, to)
		if todo, err := restarts(t.Context(), from, to); err != nil || todo != want {
			t.Errorf("%q, %v, want %q", todo, err, want)
		}
		said := "" // by the plan
		for _, caution := range actiontest.Bind(t, cutOver, `{from: n1, to: n2}`).(action.Cautioned).Cautions(t.Context(), on.ReadOnly()) {
			said += caution.Text
		}
		if said != want {
			t.Errorf("the plan says %q, want %q", said, want)
		}
		if on != remote {
			continue
		}
		if err := from.keepReadOnly(t.Context(), true); err != nil {
			t.Error(err)
		}
		if v := w.value("n1", "SELECT COUNT(*) FROM performance_schema.persisted_variables WHERE variable_name LIKE '%read_only'"); v != "0" {
			t.Errorf("%s values are persisted", v)
		}
	}
}
