package api

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/prometheustest"
)

// Prometheus' own client asks all that it can ask of a server.
func TestPromtoolAsks(t *testing.T) {
	promtool := prometheustest.Program(t, "promtool")
	server, now := served(t)
	at := func(back time.Duration) string { return now.Add(-back).UTC().Format(time.RFC3339) }
	const questions = `mysql_global_status_questions{instance="a/n1"}`
	for name, asked := range map[string]struct {
		args     []string
		expected string
	}{
		"instant": {[]string{"instant", "--time=" + at(0), server.URL, questions},
			fmt.Sprintf(`mysql_global_status_questions{cluster="a", instance="a/n1"} => %d @[%d]`, 7*599, now.Unix())},
		"rate": {[]string{"instant", "--time=" + at(0), server.URL, `sum(rate(mysql_global_status_questions[1m]))`},
			fmt.Sprintf(`{} => 14 @[%d]`, now.Unix())},
		"range": {[]string{"range", "--start=" + at(time.Minute), "--end=" + at(0), "--step=30s", server.URL, questions},
			fmt.Sprintf("%d @[%d]\n%d @[%d]\n%d @[%d]", 7*539, now.Unix()-60, 7*569, now.Unix()-30, 7*599, now.Unix())},
		"series": {[]string{"series", "--match=" + `{instance="a/n2"}`, "--start=" + at(5*time.Minute), "--end=" + at(0), server.URL},
			`{__name__="mysql_global_status_questions", cluster="a", instance="a/n2"}`},
		"labels": {[]string{"labels", "--start=" + at(5*time.Minute), "--end=" + at(0), server.URL, "instance"}, "a/n1\na/n2"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), promtool, append([]string{"query"}, asked.args...)...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), asked.expected) {
				t.Errorf("promtool query %s: %v:\n%s\nexpected:\n%s", strings.Join(asked.args, " "), err, out, asked.expected)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), promtool, "query", "instant", server.URL, "sum(").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "parse error") {
			t.Errorf("a question that cannot be read: %v: %s", err, out)
		}
	})
}
