package mysql

import (
	"strings"
	"testing"

	"plimsoll/action"
)

// A MySQL that does not load what is persisted keeps nothing: that is refused, and a plan says how long a value lasts. One that Plimsoll starts is
// given the value when it is started.
func TestOnAMySQLThatIgnoresWhatIsPersisted(t *testing.T) {
	t.Parallel()
	on := newLabWith(t, "mysql", 1, map[string]string{"persisted_globals_load": "OFF"})
	away := asTarget(t, on)
	for _, with := range []string{`{node: n1, name: back_log, value: 77, persist: only}`, `{node: n1, name: max_connections, value: 80, persist: also}`} {
		refusesCheck(t, away, with, "persisted_globals_load is OFF", "option file")
	}
	refusesAct(t, away, `{node: n1, name: back_log, value: 77}`, "only after a restart", "option file")
	cautions := bind(t, `{node: n1, name: max_connections, value: 80}`).(action.Cautioned).Cautions(t.Context(), away.ReadOnly())
	if len(cautions) != 1 || !strings.HasSuffix(cautions[0].Text, "persisted_globals_load is OFF; to keep it, write it into the server's option file too") {
		t.Errorf("%v", cautions)
	}
	if _, err := bind(t, `{node: n1, name: back_log, value: 77, persist: only}`).Act(t.Context(), on, action.Call{}); err != nil {
		t.Fatal(err)
	}
	n, err := on.Node(t.Context(), "n1")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := n.Server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if v, err := on.Value(t.Context(), "n1", "SELECT @@GLOBAL.back_log"); err != nil || v != "77" {
		t.Errorf("after a restart back_log is %s, %v", v, err)
	}
}
