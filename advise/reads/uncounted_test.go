package reads

import (
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/engine"
)

// A server may count statements and yet none of the service's: MariaDB does not know the text of prepared ones, and what it counts are the
// monitoring's. Then samples tell who reads, and nobody is told to set performance_schema=ON, which it is.
func TestCountersThatDoNotCountTheService(t *testing.T) {
	count := engine.StatementCount{Namespace: "app", Digest: "d", Text: "SELECT `note` FROM `app` . `ticks` WHERE `id` = ?", Calls: 100}
	l := &Look{
		began: time.Unix(0, 0), ended: time.Unix(10, 0), after: map[string]engine.StatementCount{"app d": count},
		texts: map[string]engine.StatementText{"1": {ID: "1", Namespace: "app", Text: "SELECT plan FROM users WHERE handle = ?"}},
	}
	if all := l.counted(); len(all) != 1 || !l.uncounted(all) {
		t.Errorf("what runs is not counted, and is not missed: %+v", all)
	}
	if said := strings.Join(l.unknown(&advise.Statements{Source: "samples"}, 0), " "); strings.Contains(said, "performance_schema=ON") || !strings.Contains(said, "does not count prepared statements") {
		t.Errorf("%q", said)
	}
	// A pool of connections asks whether they are alive, and for a variable, which reads no table.
	for text, counted := range map[string]string{"SELECT 1": "SELECT ?", "select @@GLOBAL.sync_binlog": "SELECT @@GLOBAL . `sync_binlog`"} {
		l.after["app "+text] = engine.StatementCount{Namespace: "app", Digest: text, Text: counted, Calls: 100}
		l.texts[text] = engine.StatementText{ID: text, Namespace: "app", Text: text}
	}
	if all := l.counted(); len(all) != 1 || !l.uncounted(all) {
		t.Errorf("only what reads no table is counted, and the service is not missed: %+v", all)
	}
	l.texts["2"] = engine.StatementText{ID: "2", Namespace: "app", Text: "SELECT note FROM app.ticks WHERE id = 7"}
	if l.uncounted(l.counted()) {
		t.Error("one that runs is counted")
	}
	l.after, l.texts = nil, nil
	if said := strings.Join(l.unknown(&advise.Statements{Source: "samples"}, 0), " "); !strings.Contains(said, "performance_schema=ON") || l.uncounted(l.counted()) {
		t.Errorf("nothing is counted: %q", said)
	}
}
