package channel

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
)

// What the refusals of a cut-over advise is done as it is written, and then the way is open.
func TestAdviceOfACutOverOnMariaDB(t *testing.T) { adviceOfACutOver(newFixture(t, "mariadb", 3)) }
func TestAdviceOfACutOverOnMySQL(t *testing.T)   { adviceOfACutOver(newFixture(t, "mysql", 3)) }

const n1ToN2 = `{from: n1, to: n2, max_gap: 5m}`

func adviceOfACutOver(w fixture) {
	w.do("n3", "SET GLOBAL read_only = ON") // it has no part in this yet
	w.do("n1", "CREATE DATABASE app1", "CREATE TABLE app1.t (id INT PRIMARY KEY)", "INSERT INTO app1.t VALUES (1)")
	w.attaches(w.advised(cutOver, "n2 does not follow n1"))
	w.open("it is a replica")

	if w.isMySQL() {
		w.do("n2", "SET GLOBAL super_read_only = OFF")
	}
	w.do("n2", "SET GLOBAL read_only = OFF")
	advice := w.advised(cutOver, "n2 accepts writes of its own")
	w.executes(advice)
	if !strings.Contains(advice, "then compare the two in a step that uses "+compareRows.Name) {
		w.Errorf("it advises %s", advice)
	}
	w.act(compareRows, `{source: n1, node: n2, hold: 5m}`)
	w.open("it is closed, and the same")

	w.do("n2", map[bool]string{false: "STOP SLAVE", true: "STOP REPLICA"}[w.isMySQL()])
	w.executes(w.advised(cutOver, "replication from n1 to n2 does not run"))
	w.open("it was started")

	w.withoutWayBack()
	if !w.isMySQL() {
		w.passesReadOnly()
		w.executesEvents()
	}
	w.beside()
	w.halfway()
}

// advised is what the check of an action from n1 to n2 advises when it refuses it.
func (w fixture) advised(a action.Action, reason string) string {
	w.Helper()
	_, err := w.task(a, n1ToN2).Check(w.Context(), w.on.ReadOnly())
	return w.advice(err, reason)
}

// advice is that of a refusal for a reason.
func (w fixture) advice(err error, reason string) string {
	w.Helper()
	var refusal *hint.PermanentError
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, reason) {
		w.Fatalf("got %v, want a refusal: %s", err, reason)
	}
	return refusal.Advice
}

// executes executes what an advice says is to be executed, word for word, where it says.
func (w fixture) executes(advice string) {
	w.Helper()
	found := regexp.MustCompile(`execute (.+?) on (n\d)`).FindStringSubmatch(advice)
	if found == nil {
		w.Fatalf("it advises nothing to be executed: %s", advice)
	}
	w.do(found[2], strings.Split(found[1], "; ")...)
}

// attaches takes the steps of the runbook that an advice names, with the inputs that it gives.
func (w fixture) attaches(advice string) {
	w.Helper()
	found := regexp.MustCompile(`mysql/external-replica -i source=(\S+) -i replica=(\S+)( -i snapshot=restored)?`).FindStringSubmatch(advice)
	if found == nil {
		w.Fatalf("it advises no runbook: %s", advice)
	}
	with := `{source: ` + found[1] + `, node: ` + found[2] + `}`
	if found[3] == "" {
		w.act(restoreSnapshot, with)
	}
	w.act(attach, with)
}

// open expects that the cut-over may begin: at once, or when a channel has connected.
func (w fixture) open(when string) {
	w.Helper()
	_ = w.until(when, func(f action.CheckResult, err error) bool { return err == nil && f.State == action.Needed })
}

// until looks for a cut-over until what its check finds is as it should be, and returns the check's error.
func (w fixture) until(when string, so func(action.CheckResult, error) bool) error {
	w.Helper()
	limited, cancel := context.WithTimeout(w.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for {
		f, err := w.task(cutOver, n1ToN2).Check(limited, w.on.ReadOnly())
		if so(f, err) {
			return err
		}
		select {
		case <-tick.C:
		case <-limited.Done():
			w.Fatalf("%s, and a cut-over finds %+v, %v", when, f, err)
		}
	}
}

// withoutWayBack has a replica that nobody could follow.
func (w fixture) withoutWayBack() {
	w.Helper()
	writes := func(format string) {
		w.Helper()
		set := "SET GLOBAL binlog_format = " + format
		if w.isMySQL() { // which wants its appliers stopped
			w.do("n2", "STOP REPLICA", set, "START REPLICA")
			return
		}
		w.do("n2", set)
	}
	writes("MIXED")
	err := w.until("it writes another format", func(_ action.CheckResult, err error) bool {
		return err != nil && !strings.Contains(err.Error(), "does not run")
	})
	advice := w.advice(err, " writes binlog_format MIXED")
	const without = "way_back: false"
	if !strings.Contains(err.Error(), "there would be no way back ("+without+" accepts that)") || !strings.HasPrefix(advice, "set binlog_format = ROW on the source") {
		w.Errorf("%v; it advises %s", err, advice)
	}
	if f, err := w.task(cutOver, strings.Replace(n1ToN2, "}", ", "+without+"}", 1)).Check(w.Context(), w.on.ReadOnly()); err != nil || f.State != action.Needed {
		w.Errorf("without a way back it finds %+v, %v", f, err)
	}
	writes("ROW")
	w.open("there is a way back")
}

// passesReadOnly has an account connected that may write though the server is read-only. Its connection would keep that right.
func (w fixture) passesReadOnly() {
	w.Helper()
	w.do("n1", "CREATE USER rogue IDENTIFIED BY 'r'", "GRANT ALL ON *.* TO rogue")
	rogue := func() engine.Session {
		n, err := w.on.Node(w.Context(), "n1")
		if err != nil {
			w.Fatal(err)
		}
		target := n.Target
		target.User, target.Password = "rogue", "r"
		db, err := enginemysql.Engine{}.Open(w.Context(), target)
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { _ = db.Close() })
		s, err := db.Session(w.Context())
		if err != nil {
			w.Fatal(err)
		}
		w.Cleanup(func() { _ = s.Close() })
		return s
	}
	before := rogue()
	advice := w.advised(cutOver, "user rogue is connected to n1 and may write although it is read-only")
	w.executes(advice)
	w.open("who passed it is gone")
	w.do("n1", "SET GLOBAL read_only = ON")
	if err := before.Exec(w.Context(), "INSERT INTO app1.t VALUES (2)", nil); err == nil {
		w.Error("the connection that there was writes to a read-only server")
	}
	if err := rogue().Exec(w.Context(), "INSERT INTO app1.t VALUES (2)", nil); err == nil || !strings.Contains(err.Error(), "read-only") {
		w.Errorf("a new connection writes to a read-only server: %v", err)
	}
	w.do("n1", "SET GLOBAL read_only = OFF", "DROP USER rogue")
}

// executesEvents has an event that a read-only server would go on executing.
func (w fixture) executesEvents() {
	w.Helper()
	w.do("n1", "SET GLOBAL event_scheduler = ON", "CREATE EVENT app1.tick ON SCHEDULE EVERY 1 DAY STARTS NOW() + INTERVAL 1 DAY DO DELETE FROM app1.t WHERE id = 3")
	w.executes(w.advised(cutOver, "event app1.tick (definer"))
	w.open("the event is disabled")
	w.do("n1", "SET GLOBAL event_scheduler = OFF", "DROP EVENT app1.tick")
}

// beside has another node begin to take writes while a cut-over was cut off, and when it is undone: it is closed again, and both go on.
func (w fixture) beside() {
	w.Helper()
	task, opening := w.task(cutOver, n1ToN2), "SET GLOBAL read_only = OFF"
	if w.isMySQL() {
		opening = "SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF"
	}
	since := call(action.CheckResult{Observed: action.Facts{"writes": "n1", othersOpen: ""}})
	w.do("n1", "SET GLOBAL read_only = ON")
	w.do("n3", opening)
	_, err := task.Act(w.Context(), w.on, since)
	advice := w.advice(err, "n3 accepts writes now, and did not before: n2 would be a second primary")
	for _, wants := range []string{"If it is n3, leave the others as they are: plimsoll runbook cancel RUN --leave REASON.", ", then plimsoll runbook resume RUN"} {
		if !strings.Contains(advice, wants) {
			w.Errorf("it advises %s", advice)
		}
	}
	w.executes(advice)
	if _, err := task.Act(w.Context(), w.on, since); err != nil {
		w.Fatalf("when n3 is closed: %v", err)
	}
	w.do("n3", opening)
	advice = w.advice(task.(action.Undoer).Undo(w.Context(), w.on, since), "n3 accepts writes now, and did not before: n1 would be a second primary")
	if !strings.Contains(advice, ", then plimsoll runbook cancel RUN --undo") {
		w.Errorf("it advises %s", advice)
	}
	w.executes(advice)
	if err := task.(action.Undoer).Undo(w.Context(), w.on, since); err != nil {
		w.Fatalf("undone when n3 is closed: %v", err)
	}
	w.open("it was undone")
}

// halfway has somebody move the writes by hand, without a way back: the old server becomes a replica as it is.
func (w fixture) halfway() {
	w.Helper()
	w.do("n1", "SET GLOBAL read_only = ON")
	w.act(compareRows, `{source: n1, node: n2, hold: 5m}`) // which waits for what n2 is behind
	if w.isMySQL() {
		w.do("n2", "SET GLOBAL super_read_only = OFF")
	}
	w.do("n2", "SET GLOBAL read_only = OFF")
	task := w.task(cutOver, n1ToN2)
	f, err := task.Check(w.Context(), w.on.ReadOnly())
	if err != nil || f.State != action.Needed {
		w.Fatalf("found %+v, %v", f, err)
	}
	_, err = task.Act(w.Context(), w.on, call(f))
	advice := w.advice(err, "n2 accepts writes, and n1 does not replicate from it")
	if !strings.Contains(advice, "plimsoll runbook cancel RUN --leave REASON. Then") {
		w.Errorf("it advises %s", advice)
	}
	w.attaches(advice)
	if f, err := task.Check(w.Context(), w.on.ReadOnly()); err != nil || f.State != action.Satisfied {
		w.Errorf("n1 is a replica, and a cut-over finds %+v, %v", f, err)
	}
}
