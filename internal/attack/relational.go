package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const appPassword = "app-7Fq2xW"

// relational is a primary with its replicas, of MariaDB or MySQL.
type relational struct {
	*attack
	writer  *writer
	members members
	admins  map[string]*server
	target  *server // of the writer
	low     int64   // the last row that was looked for
	serial  int
}

func (w *relational) admin(node string) *server {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.admins[node] == nil {
		w.admins[node] = w.server(node, w.user, w.cluster.password, "")
	}
	return w.admins[node]
}

// start makes the cluster, the account of the application, and its tables.
func (w *relational) start(ctx context.Context) error {
	if err := w.up(ctx, 3); err != nil {
		return err
	}
	w.admins, w.writer = map[string]*server{}, newWriter(w.insert)
	w.members.set(w.nodes())
	for _, sql := range []string{
		"CREATE DATABASE attack", "CREATE TABLE attack.ledger (id BIGINT PRIMARY KEY, note VARCHAR(40))",
		"CREATE TABLE attack.steps (id BIGINT AUTO_INCREMENT PRIMARY KEY, run VARCHAR(40), step VARCHAR(10))",
		"CREATE TABLE attack.wide (id INT PRIMARY KEY)", "INSERT INTO attack.wide VALUES (1), (2), (3)",
		"CREATE USER app@'%' IDENTIFIED BY '" + appPassword + "'", "GRANT SELECT, INSERT ON attack.* TO app@'%'",
	} {
		if _, err := w.admin("n1").ask(20*time.Second, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	go w.writer.run(ctx)
	go w.guard(ctx)
	return nil
}

func (w *relational) replica(r *rand.Rand, primary string) string {
	all := slices.DeleteFunc(w.nodes(), func(n string) bool { return n == primary })
	return all[r.IntN(len(all))]
}

// next chooses a change, and breaks what it is for.
func (w *relational) next(ctx context.Context) *scenario {
	r, primary := w.rng, w.primary()
	on := func(args ...string) []string { return append(args, "--cluster", w.name) }
	w.serial++
	switch n := r.IntN(100); {
	case n < 34:
		to := w.replica(r, primary)
		s := &scenario{book: "mysql/switchover", args: on("mysql/switchover", "-i", "to="+to), leader: primary}
		s.ended = func(outcome string) []string {
			return w.leads(map[string]string{"done": to, "done, with remainders": to, "undone": primary}[outcome])
		}
		if r.IntN(4) == 0 {
			w.mishap(s, w.nodes()[r.IntN(len(w.nodes()))])
		}
		return s
	case n < 48:
		s := &scenario{book: "mysql/failover", args: on("mysql/failover", "-i", "checks=3", "-i", "every=500ms"), fails: true, dead: primary, since: time.Now()}
		what := syscall.SIGKILL
		if r.IntN(3) == 0 {
			what = syscall.SIGSTOP
			if r.IntN(3) == 0 { // it comes back in the middle
				after := time.Duration(r.Int64N(int64(12 * time.Second)))
				s.mishap = func(ctx context.Context) { sleep(ctx, after); w.signal(primary, syscall.SIGCONT) }
			}
		}
		w.signal(primary, what)
		w.say("  %s: %s", primary, what)
		s.ended = func(outcome string) []string {
			if strings.HasPrefix(outcome, "done") && w.primary() == primary {
				return []string{"the run is done, and the old primary " + primary + " still accepts writes"}
			}
			return nil
		}
		return s
	case n < 62:
		name, values := "max_connections", []string{"180", "190", "200", "210"}
		value, before := values[r.IntN(len(values))], w.values(name)
		s := &scenario{book: "mysql/set-variable", args: on("mysql/set-variable", "-i", "name="+name, "-i", "value="+value)}
		s.ended = func(outcome string) []string {
			now := w.values(name)
			for n, v := range now {
				was, known := before[n] // a busy server may not have said
				if outcome == "done" && v != value || outcome == "undone" && known && v != was {
					return []string{fmt.Sprintf("the run is %s, and %s is %s on %s (before: %s, asked: %s)", outcome, name, v, n, was, value)}
				}
			}
			return nil
		}
		return s
	case n < 72:
		return &scenario{book: "mysql/rolling-restart", args: on("mysql/rolling-restart"), ended: w.samePrimary(primary)}
	case n < 81:
		column := fmt.Sprintf("c%d", w.serial)
		count := "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'attack' AND table_name = 'wide' AND column_name = '" + column + "'"
		s := &scenario{book: "mysql/alter-table", args: on("mysql/alter-table", "-i", "table=attack.wide", "-i", "change=ADD COLUMN "+column+" INT", "-i", "check="+count)}
		s.ended = func(outcome string) []string {
			has, err := w.admin(w.primary()).ask(5*time.Second, count)
			if err == nil && (outcome == "done") != (has == "1") {
				return []string{fmt.Sprintf("the run is %s, and the table has %s columns %s", outcome, has, column)}
			}
			return nil
		}
		return s
	case n < 93:
		return w.statements(on)
	case len(w.nodes()) < 4:
		return &scenario{book: "mysql/add-replica", args: on("mysql/add-replica"), ended: w.samePrimary(primary)}
	}
	return &scenario{book: "mysql/remove-replica", args: on("mysql/remove-replica", "-i", "node="+w.replica(r, primary), "-i", "drain=2s"), ended: w.samePrimary(primary)}
}

// statements is a runbook of sql.execute, of which each step leaves a row each time that it is executed.
func (w *relational) statements(on func(...string) []string) *scenario {
	tag := fmt.Sprintf("t%d", w.serial)
	text := "runbook: attack/statements\nabout: Leaves a row for each execution of a step.\nlock: cluster\nsteps:\n"
	const steps = 5
	for i := 1; i <= steps; i++ {
		text += fmt.Sprintf("  - id: s%d\n    uses: sql.execute\n    with:\n      statements: [\"INSERT INTO attack.steps (run, step) SELECT '%s', 's%d' FROM DUAL WHERE SLEEP(0.3) = 0\"]\n"+
			"      check: \"SELECT COUNT(*) > 0 FROM attack.steps WHERE run = '%s' AND step = 's%d'\"\n      want: \"1\"\n      undo: [\"DELETE FROM attack.steps WHERE run = '%s' AND step = 's%d'\"]\n", i, tag, i, tag, i, tag, i)
	}
	file := filepath.Join(w.program.work, tag+".yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.say("%v", err)
	}
	s := &scenario{book: "sql.execute", args: on(file)}
	s.ended = func(outcome string) []string {
		word, err := w.admin(w.primary()).ask(5*time.Second, "SELECT IFNULL(GROUP_CONCAT(step ORDER BY id), '') FROM attack.steps WHERE run = '"+tag+"'")
		if err == nil && (outcome == "done" && word != "s1,s2,s3,s4,s5" || outcome == "undone" && word != "") {
			return []string{fmt.Sprintf("the run is %s, and the steps left the rows %q", outcome, word)}
		}
		return nil
	}
	return s
}

// mishap kills or freezes a server for a while, in the middle.
func (w *relational) mishap(s *scenario, node string) {
	kill := w.rng.IntN(2) == 0
	after, frozen := time.Duration(w.rng.Int64N(int64(5*time.Second))), 3*time.Second+time.Duration(w.rng.Int64N(int64(15*time.Second)))
	s.fails, s.dead, s.since = true, node, time.Now()
	s.mishap = func(ctx context.Context) {
		sleep(ctx, after)
		if kill {
			w.signal(node, syscall.SIGKILL)
			return
		}
		w.signal(node, syscall.SIGSTOP)
		sleep(ctx, frozen)
		w.signal(node, syscall.SIGCONT)
	}
	w.say("  in the middle: %s is killed %t (else frozen for %s) after %s", node, kill, frozen.Round(time.Second), after.Round(time.Millisecond))
}

func (w *relational) leads(node string) []string {
	if now := w.primary(); node != "" && now != node {
		return []string{fmt.Sprintf("the primary is %q, expected %s", now, node)}
	}
	return nil
}

func (w *relational) samePrimary(node string) func(string) []string {
	return func(string) []string { return w.leads(node) }
}

func (w *relational) values(name string) map[string]string {
	all := map[string]string{}
	for _, n := range w.nodes() {
		if word, err := w.admin(n).ask(5*time.Second, "SELECT @@global."+name); err == nil {
			all[n] = word
		}
	}
	return all
}

// theft is what another state folder does with the cluster: a failover where nobody leads, else a switchover.
func (w *relational) theft(r *rand.Rand) *scenario {
	if w.primary() == "" {
		return &scenario{book: "mysql/failover", args: []string{"mysql/failover", "--cluster", w.name, "-i", "checks=3", "-i", "every=500ms"}}
	}
	return &scenario{book: "mysql/switchover", args: []string{"mysql/switchover", "--cluster", w.name, "-i", "to=" + w.replica(r, w.primary())}}
}

// rows looks for acknowledged rows that are gone. Those that only a dead primary had are lost with it, as is documented.
func (w *relational) rows(s *scenario) {
	primary := w.primary()
	if primary == "" {
		return
	}
	w.writer.pause()
	defer w.writer.resume()
	found, err := w.present(primary, w.low)
	if err != nil {
		w.say("  the rows cannot be read: %v", err)
		return
	}
	gone := w.writer.missing(w.low, found)
	var lost []int64
	for _, id := range gone {
		at := w.writer.stamp(id)
		if s.dead == at.node && s.dead != primary && at.at.After(s.since.Add(-3*time.Second)) {
			w.result.WithPrimary++
			continue
		}
		lost = append(lost, id)
	}
	if len(lost) > 0 {
		at := w.writer.stamp(lost[0])
		w.report("acknowledged rows are lost", fmt.Sprintf("%d rows, the first %d, acknowledged by %s at %s; the primary is %s, dead %q since %s", len(lost), lost[0], at.node, at.at.Format(time.StampMilli), primary, s.dead, s.since.Format(time.StampMilli)))
	}
	w.writer.forget(gone)
	if acked, last := w.writer.count(); true {
		w.result.Acknowledged = acked
		w.low = max(0, last-400)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
