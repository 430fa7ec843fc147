package books

import (
	"slices"
	"strings"
	"testing"
)

// A member of a ring that is stopped and comes back with its data has missed writes: whether it may, whether the others see it and have delivered
// their hints, and whether a repair is due, is looked at by every runbook of a Super Disk that starts a server.
func TestAMemberOfARingComesBackByTheSameSteps(t *testing.T) {
	actions := shipped()
	starting := 0
	for _, name := range Names() {
		if !strings.HasPrefix(name, "superdisk/") {
			continue
		}
		book, err := Read(name, actions)
		if err != nil {
			t.Fatal(err)
		}
		var does []string
		for _, s := range book.Steps {
			does = append(does, s.Uses)
			if strings.HasPrefix(s.Uses, "cql.") && !strings.HasPrefix(s.If, `cluster.engine == "cql"`) {
				t.Errorf("%s: step %s is also done where there is no ring: if %q", name, s.ID, s.If)
			}
		}
		at := func(action string) int { return slices.Index(does, action) }
		if start := at("server.start"); start >= 0 {
			starting++
			if may, seen, repair := at("cql.may-return"), at("cql.wait-returned"), at("cql.repair"); may < 0 || may > start || seen != start+1 || repair < seen {
				t.Errorf("%s starts a member of a ring in these steps: %v", name, does)
			}
			if stop := at("server.stop"); slices.Contains([]string{"superdisk/migrate", "superdisk/replace-node"}, name) && (at("cql.drain") < 0 || at("cql.drain") > stop) {
				t.Errorf("%s stops a member that serves without draining it: %v", name, does)
			}
		}
		if wipe := at("superdisk.wipe"); wipe >= 0 && (at("cql.may-retire") < 0 || at("cql.may-retire") > at("server.stop")) {
			t.Errorf("%s wipes disks of what may be a member of a ring: %v", name, does)
		}
	}
	if starting < 5 {
		t.Errorf("only %d start a server", starting)
	}
}
