package collect

import (
	"context"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// tabular is a stand-in for a server that has no table whose columns are asked for by name.
type tabular struct{ answering }

func (tabular) Table(context.Context, string) ([]map[string]string, error) {
	return nil, &engine.Error{Kind: engine.Missing, Text: "there is no such table"}
}

// A server that answers, and takes too long for some of what is read every ten seconds, is not down: it is said what it does not show.
func TestAServerThatDoesNotShowAllIsNotDown(t *testing.T) {
	const dear = "SELECT @@GLOBAL.max_connections, @@GLOBAL.sync_binlog"
	s := tabular{answering{
		rows:  map[string][][]string{"SHOW GLOBAL STATUS": {{"Uptime", "5"}}, "SHOW PROCESSLIST": {}, dear: {{"151", "1"}}},
		fails: map[string]*engine.Error{dear: {Kind: engine.Timeout, Text: "maximum statement execution time exceeded"}},
	}}
	s.rows["SHOW GLOBAL STATUS WHERE CAST(Variable_name AS BINARY) IN ('"+strings.Join(everySecond, "', '")+"')"] = s.rows["SHOW GLOBAL STATUS"]
	m := &meter{}
	q := &quick{server: &server{meter: m, breaker: breaker{meter: m}}, sources: follower{kind: "topology"}, link: &link{session: s, meter: m}, shape: shape{asked: true}}
	now := time.Unix(1_000_000, 0)
	var i watch.Instance
	look := func(level watch.Level) string {
		t.Helper()
		now = now.Add(time.Second)
		r, err := q.Collect(t.Context(), level, now)
		if err != nil {
			t.Fatalf("at level %d: %v", level, err)
		}
		r.Show(&i)
		for _, f := range i.Findings {
			if f.Code == "not-read" {
				return f.Text
			}
		}
		return ""
	}
	for _, level := range []watch.Level{watch.TenSeconds, watch.Second} {
		if text := look(level); !strings.Contains(text, "commits, transactions and locks") || !strings.Contains(text, "execution time exceeded") {
			t.Errorf("at level %d it is said: %q", level, text)
		}
	}
	delete(s.fails, dear)
	if text := look(watch.TenSeconds); text != "" {
		t.Errorf("it shows all again, and it is said: %q", text)
	}
}
