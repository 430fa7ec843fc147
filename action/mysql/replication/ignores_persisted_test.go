package replication

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
)

// A MySQL that does not load what is persisted starts as its option file says: each plan says so, and none that it is kept.
func TestAMySQLThatIgnoresWhatIsPersisted(t *testing.T) {
	t.Parallel()
	w := newFixtureWith(t, "mysql", 2, map[string]string{"persisted_globals_load": "OFF"})
	nodes, err := w.on.List(t.Context())
	w.must(err)
	own := nodes[0].Server
	for i := range nodes {
		nodes[i].Server = nil // as an inventory without machines has them
	}
	account := cluster.Account{User: nodes[0].Target.User, Password: nodes[0].Target.Password}
	away := fixture{t, &cluster.Cluster{Name: w.on.Name, Engine: w.on.Engine, Replication: &account,
		List: func(context.Context) ([]cluster.Node, error) { return nodes, nil }}, w.cluster}
	t.Cleanup(func() { _ = away.on.Close() })
	n1, n2 := away.server("n1"), away.server("n2")
	w.must(n1.do(t.Context(), "", "SET PERSIST_ONLY read_only = OFF", "SET PERSIST_ONLY super_read_only = OFF"))

	says := func(a action.Action, with, want string) action.CheckResult {
		t.Helper()
		f, err := away.task(a, with).Check(t.Context(), away.on.ReadOnly())
		if err != nil || f.State != action.Needed || f.Reason != want {
			t.Errorf("%s: %+v, %v, want the reason %q", a.Name, f, err, want)
		}
		if c, is := away.task(a, with).(action.Cautioned); is { // which a plan shows
			if all := c.Cautions(t.Context(), away.on.ReadOnly()); len(all) != 1 || !strings.HasSuffix(all[0].Text, ": "+want) {
				t.Errorf("%s: cautions %v, want %q", a.Name, all, want)
			}
		}
		return f
	}
	const opens = "its option file decides whether it accepts writes after a restart, as persisted_globals_load is OFF: "
	f := says(demoteAction, `{node: n1}`, "its option file decides whether it accepts writes after a restart, as persisted_globals_load is OFF: put super_read_only = ON into it")
	for _, fact := range []string{keptNow, keptSuper} {
		if f.Observed[fact] != cannotBeKept || f.Intended[fact] != cannotBeKept {
			t.Errorf("demote: %s %v → %v, and nothing is known of it", fact, f.Observed[fact], f.Intended[fact])
		}
	}
	says(promoteAction, `{node: n2, old: n1}`, opens+"remove read_only and super_read_only from it")
	says(repointAction, `{source: n2, also: [n1]}`, "n1: "+opens+"put super_read_only = ON into it")

	out := away.does(fenceAction, `{node: n1}`)
	if left, _ := out[action.LeftOut].(map[string]any); !strings.Contains(fmt.Sprint(left["n1"]), "n1 may accept writes after its next start") {
		t.Errorf("a fence left out %v", out)
	}
	if m, err := modeOf(t.Context(), n1); err != nil || !m.refuses(n1) {
		t.Errorf("a fenced server: %v, %v", m, err)
	}
	if v, err := n1.value(t.Context(), "SELECT COUNT(*) FROM performance_schema.persisted_variables WHERE variable_name LIKE '%read_only'"); err != nil || v != "0" {
		t.Errorf("%s values are persisted that would win over the option file in a start that loads them: %v", v, err)
	}
	w.must(own.Stop(t.Context())) // what is said is so
	w.must(own.Start(t.Context()))
	if m, err := modeOf(t.Context(), away.server("n1")); err != nil || m.refuses(n1) {
		t.Errorf("after a restart: %v, %v", m, err)
	}
	w.must(setMode(t.Context(), n1, n1.refusing()))
	w.must(n2.unfollow(t.Context()))
	w.must(n2.open(t.Context()))
	says(replicateAction, `{node: n1, source: n2}`, opens+"put super_read_only = ON into it")
	away.does(replicateAction, `{node: n1, source: n2}`)
	if f, err := actiontest.Bind(t, replicateAction, `{node: n1, source: n2}`).Check(t.Context(), away.on.ReadOnly()); err != nil || f.State != action.Satisfied {
		t.Errorf("replicate: %+v, %v", f, err)
	}
}
