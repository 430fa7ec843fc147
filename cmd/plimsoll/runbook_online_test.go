package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/home"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/lab"
	"plimsoll/runbook/journal"
)

// TestRealOnlineChangeOutlivesPlimsoll kills Plimsoll while pt-online-schema-change copies, which goes on, and then both.
func TestRealOnlineChangeOutlivesPlimsoll(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts a real server")
	}
	if _, err := exec.LookPath("pt-online-schema-change"); err != nil {
		t.Skip("percona-toolkit is not installed; .ci/run installs it")
	}
	program, err := exec.LookPath("plimsoll") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PLIMSOLL_CACHE", cache)
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // where the tool's log goes
	stateDirWith(t, nil)
	if _, said, code := typed(t, "lab", "up", "mariadb", "--name", "altered"); code != 0 {
		t.Fatal(said)
	}
	t.Cleanup(func() { typed(t, "lab", "down", "altered") })
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	looked, err := lab.Look(t.Context(), "altered", deps) // which leaves the lab to the commands
	if err != nil {
		t.Fatal(err)
	}
	target, err := looked.Target()
	if err != nil {
		t.Fatal(err)
	}
	if err := looked.Close(); err != nil {
		t.Fatal(err)
	}
	on := &cluster.Cluster{Name: "altered", Engine: enginemysql.Engine{}, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Target: target}}, nil
	}}
	t.Cleanup(func() { _ = on.Close() })
	machine, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(query string) string {
		t.Helper()
		v, err := on.Value(t.Context(), "", query)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tools := func() []infra.Process {
		t.Helper()
		found, err := machine.Find(t.Context(), "/online/altered")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if err := on.Execute(t.Context(), "", []string{"CREATE DATABASE shop"}, func(int) {}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		table string
		dies  bool // the tool too
	}{{"one", false}, {"two", true}} {
		if err := on.Execute(t.Context(), "", []string{"CREATE TABLE shop." + c.table + " (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(99)) AS SELECT seq AS id, REPEAT('x', 90) AS text FROM shop.seq_1_to_50000"}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		for range 8 { // the tool pauses meanwhile
			go func() { _, _ = on.Value(t.Context(), "", "SELECT SLEEP(25)") }()
		}
		column := "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = '" + c.table + "' AND column_name = 'note'"
		dies := exec.CommandContext(t.Context(), program, "runbook", "run", "mysql/alter-table", "--cluster", "altered", "--yes",
			"-i", "table=shop."+c.table, "-i", "change=ADD COLUMN note INT", "-i", "algorithm=online", "-i", "busy=6", "-i", "check="+column)
		said := &bytes.Buffer{}
		dies.Stdout, dies.Stderr = said, said
		if err := dies.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, func() string { return "the tool copies: " + said.String() }, func() bool {
			return ask("SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'shop'") == "3"
		})
		run := runOn(t, "altered", "running")
		_ = dies.Process.Kill()
		_ = dies.Wait() // it was killed
		if len(tools()) == 0 || ask(column) != "0" {
			t.Fatal("the tool ended with Plimsoll, or before")
		}
		says(t, 0, "no process executes it", "runbook", "status", run)
		if c.dies {
			for _, p := range tools() {
				if err := p.Signal(t.Context(), "KILL"); err != nil {
					t.Error(err)
				}
			}
		}
		out, told, code := typed(t, "runbook", "resume", run, "--yes")
		if code != 0 {
			t.Fatalf("resume: %d %s%s", code, out, told)
		}
		steps := statusByName(t, run).Steps
		online := steps[len(steps)-1]
		if want := map[bool]int{false: 1, true: 2}[c.dies]; online.Phase != journal.StepDone || online.Attempt != want || ask(column) != "1" || len(tools()) != 0 {
			t.Errorf("%s: %+v, want %d attempts; the column: %s", c.table, online, want, ask(column))
		}
		if left := ask("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'shop' AND table_name NOT IN ('one', 'two')"); left != "0" ||
			ask("SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'shop'") != "0" {
			t.Errorf("%s: %s tables are left behind", c.table, left)
		}
		if rows := ask("SELECT COUNT(*) FROM shop." + c.table); rows != "50000" {
			t.Errorf("%s rows", rows)
		}
		evidence, told, code := typed(t, "runbook", "evidence", run)
		if code != 0 || !strings.Contains(evidence, "pt-online-schema-change 3.") {
			t.Errorf("the evidence does not name the tool and its version: %d %s%s", code, told, evidence)
		}
	}
}

func until(t *testing.T, what func() string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(time.Minute); !so(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatal("it did not come about: " + what())
		}
	}
}
