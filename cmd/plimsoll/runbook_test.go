package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/labcmd"
	"plimsoll/cmd/plimsoll/loadcmd"
	"plimsoll/cmd/plimsoll/machinecmd"
	"plimsoll/cmd/plimsoll/runbookcmd"
	"plimsoll/cmd/plimsoll/torturecmd"
	"plimsoll/cmd/plimsoll/trialcmd"
)

// typed runs a command of some nouns as it is typed.
func typed(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = typedAt(t, console.Streams{In: strings.NewReader(""), Out: &o, Err: &e}, args...)
	return o.String(), e.String(), code
}

// typedAt is the same at a console of the caller's.
func typedAt(t *testing.T, c console.Streams, args ...string) (code int) {
	t.Helper()
	return typedUntil(context.WithoutCancel(t.Context()), c, args...) // in a cleanup it has ended
}

// typedUntil is the same until a person interrupts it.
func typedUntil(ctx context.Context, c console.Streams, args ...string) (code int) {
	root := &cobra.Command{Use: "plimsoll", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(runbookcmd.Command(c, torturecmd.Command(c)), labcmd.Command(c), trialcmd.Command(c), machinecmd.Command(c), loadcmd.Command(c))
	root.SetOut(c.Out)
	root.SetErr(c.Err)
	root.SetArgs(args)
	return console.Tell(c, root.ExecuteContext(ctx))
}

func TestRunbookCommandsThatNeedNoCluster(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	if out, said, code := typed(t, "runbook", "list"); code != 0 || !strings.Contains(out, "mysql/rolling-restart") {
		t.Errorf("list: %d %s%s", code, out, said)
	}
	var actions []map[string]any
	if out, _, _ := typed(t, "runbook", "list", "--actions", "--json"); json.Unmarshal([]byte(out), &actions) != nil || len(actions) < 5 {
		t.Errorf("actions: %s", out)
	}
	shown, _, _ := typed(t, "runbook", "show", "mysql/rolling-restart")
	if err := os.WriteFile("own.yaml", []byte(strings.Replace(shown, "mysql/rolling-restart", "own/restart", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, said, code := typed(t, "runbook", "validate", "own.yaml"); code != 0 || !strings.Contains(out, "own/restart") {
		t.Errorf("validate: %d %s%s", code, out, said)
	}
	for _, c := range []struct {
		args, want string
		code       int
	}{
		{"runbook show mysql/roling-restart", `did you mean`, console.ExitBadInput},
		{"runbook run mysql/rolling-restart", "--cluster", console.ExitBadInput},
		{"runbook plan mysql/rolling-restart --cluster nosuch", "no such cluster", console.ExitBadInput},
		{"runbook status nosuch", "no such run", console.ExitTrouble},
		{"runbook rerun r", "--step", console.ExitBadInput},
		{"runbook approve nosuch", "no such run", console.ExitTrouble},
		{"runbook verify own.yaml", "not the evidence", console.ExitTrouble},
		{"runbook torture mysql/rolling-restart --cluster x", "--yes", console.ExitBadInput},
		{"runbook torture mysql/rolling-restart --cluster x --yes --tries never", `there is no kind "never"`, console.ExitBadInput},
	} {
		if _, said, code := typed(t, strings.Fields(c.args)...); code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%s: %d %s, want %d %s", c.args, code, said, c.code, c.want)
		}
	}
	if err := os.WriteFile("plimsoll.yaml", []byte("clusters: {orders: {engine: mysql}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said, code := typed(t, "runbook", "status"); code != console.ExitBadInput || !strings.Contains(said, `"environment" is missing`) {
		t.Errorf("a bad inventory: %d %s", code, said)
	}
}

func TestTheStateOfANewerReleaseIsRefusedInOneLine(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PLIMSOLL_HOME", home)
	t.Chdir(t.TempDir())
	if _, said, code := typed(t, "runbook", "status"); code != 0 {
		t.Fatalf("%d %s", code, said)
	}
	db, err := sql.Open("sqlite", filepath.Join(home, "runs", "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "UPDATE plimsoll_format SET number = 99"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	const want = "plimsoll: the state was written by a newer Plimsoll (format 99, this one knows 2)\nhint: use that release, or another state folder\n"
	for _, args := range []string{"runbook status", "runbook plan mysql/rolling-restart --cluster x", "runbook resume r"} {
		if out, said, code := typed(t, strings.Fields(args)...); code != console.ExitTrouble || out != "" || said != want {
			t.Errorf("%s: %d %s%s", args, code, out, said)
		}
	}
}

func TestEveryRunbookCommandHasAnExample(t *testing.T) {
	for _, cmd := range runbookcmd.Command(console.Streams{}, torturecmd.Command(console.Streams{})).Commands() {
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s has no short text or no example", cmd.Name())
		}
	}
}

func TestRealRunbook(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts real servers")
	}
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	must := func(args ...string) string {
		t.Helper()
		out, said, code := typed(t, args...)
		if code != 0 {
			t.Fatalf("%v: %d %s%s", args, code, out, said)
		}
		return out
	}
	must("lab", "up", "mariadb", "--nodes", "2", "--name", "rb")
	t.Cleanup(func() { typed(t, "lab", "down", "rb") })
	must("runbook", "run", "mysql/rolling-restart", "--cluster", "rb", "--yes")
	var runs []runbookcmd.Status
	if err := json.Unmarshal([]byte(must("runbook", "status", "--json")), &runs); err != nil || len(runs) != 1 || runs[0].Status != "done" {
		t.Fatalf("status %+v, %v", runs, err)
	}
	run := runs[0].Run
	if history := must("runbook", "history", run); !strings.Contains(history, "each[n2].restart") {
		t.Errorf("history %s", history)
	}
	must("runbook", "rerun", run, "--step", "each[n2].restart", "--reason", "again")
	file := filepath.Join(t.TempDir(), "evidence.json")
	must("runbook", "evidence", run, "-o", file)
	if out := must("runbook", "verify", file); !strings.Contains(out, "is valid") {
		t.Errorf("verify: %s", out)
	}
	plan := must("runbook", "plan", "mysql/set-variable", "--cluster", "rb", "-i", "name=innodb_flush_log_at_trx_commit", "-i", "value=2")
	if !strings.Contains(plan, "weakens durability") || !strings.Contains(plan, "value 1 → 2") {
		t.Errorf("plan %s", plan)
	}
}
