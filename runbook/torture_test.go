package runbook

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook/action"
)

// ordeal tortures a runbook but for what needs processes of its own.
func (b *bench) ordeal(text string, marker *board) Ordeal {
	b.t.Helper()
	tt := Torture{
		Request: Request{Book: b.parse(text), Cluster: "lab1"}, Folder: b.t.TempDir(), Actions: b.Actions, Open: b.Open,
		Marker: func(*action.Site) Marker { return marker }, Say: func(string) {},
		Child: func(context.Context, string, durable.Moment, time.Duration) (bool, error) { return false, nil },
	}
	var o Ordeal
	for _, experiment := range []func(context.Context, *Ordeal) error{tt.twice, tt.fail} {
		if err := experiment(b.t.Context(), &o); err != nil {
			b.t.Fatal(err)
		}
	}
	return o
}

func TestTheTortureFindsWhatIsNotRepeatableAndNotUndone(t *testing.T) {
	for _, c := range []struct{ name, step, want string }{
		{"sound", `{run: "touch DIR/f", check: "test -e DIR/f", undo: "rm -f DIR/f", repeatable: true}`, ""},
		{"not repeatable", `{run: "mkdir DIR/f", check: "test -e DIR/f", undo: "rmdir DIR/f 2>/dev/null || true", repeatable: true}`, "not repeatable"},
		{"undo does nothing", `{run: "touch DIR/f", check: "test -e DIR/f", undo: "true", repeatable: true}`, "undone, it is"},
		{"undo fails", `{run: "touch DIR/f", check: "test -e DIR/f", undo: "false", repeatable: true}`, "not undone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			o := b.ordeal("runbook: test/torture\nsteps:\n  - {id: a, uses: command, with: "+c.step+"}\n", &board{})
			var all []string
			for _, trouble := range o.Troubles {
				all = append(all, trouble.Text)
			}
			if got := strings.Join(all, "; "); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("troubles %q, want %q", got, c.want)
			}
			if entries, err := os.ReadDir(b.folder); c.want == "" && (err != nil || len(entries) > 0) {
				t.Errorf("it left %v, %v", entries, err)
			}
		})
	}
}

func TestTheTortureRefusesWhatHasNothingToDo(t *testing.T) {
	b := newBench(t)
	b.put("f", "")
	tt := Torture{
		Request: Request{Book: b.parse(`{runbook: test/idle, steps: [{id: a, uses: command, with: {run: "true", check: "test -e DIR/f"}}]}`), Cluster: "lab1"},
		Folder:  t.TempDir(), Actions: b.Actions, Open: b.Open, Say: func(string) {},
	}
	if _, err := tt.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing to torture") {
		t.Errorf("got %v", err)
	}
}
