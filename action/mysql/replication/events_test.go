package replication

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"plimsoll/action"
	enginemysql "plimsoll/engine/mysql"
	"plimsoll/hint"
)

// events has an event of an administrator on n1: MariaDB would go on executing it when it is read-only, and so its demotion is refused until what is
// advised is done. Where another becomes the primary, what it says enables the event there. It leaves the cluster as it was.
func events(w fixture) {
	w.Run("events", func(t *testing.T) {
		w := w.of(t)
		ctx, n1 := t.Context(), w.server("n1")
		const check, demotes = `{from: n1, to: n2}`, `{node: n1, for: n2, grace: 1s}`
		scheduler, err := n1.value(ctx, "SELECT @@GLOBAL.event_scheduler")
		w.must(err)
		w.must(n1.do(ctx, "", "CREATE USER ticker IDENTIFIED BY 't'", "GRANT ALL ON *.* TO ticker", "SET GLOBAL event_scheduler = ON",
			"CREATE DEFINER = ticker EVENT shop.`tick tock` ON SCHEDULE EVERY 1 DAY STARTS NOW() + INTERVAL 1 DAY DO INSERT INTO shop.t (v) VALUES (9)"))
		passes := func(when string) {
			t.Helper()
			if f, err := w.task(checkSwitchoverAction, check).Check(ctx, w.on.ReadOnly()); err != nil || f.State != action.Needed {
				t.Errorf("%s a check finds %+v, %v", when, f, err)
			}
		}
		if n1.mariadb {
			w.refuses(checkSwitchoverAction, check, "event shop.tick tock (definer ticker@%) would continue to write to n1 when n1 is read-only")
			w.refusesAct(demoteAction, demotes, "event shop.tick tock (definer ticker@%) would continue to write to n1 when n1 is read-only")
			if m, err := modeOf(ctx, n1); err != nil || m.refuses(n1) {
				t.Errorf("refused, and n1 is %v, %v", m, err)
			}
			w.must(n1.do(ctx, "", "SET GLOBAL event_scheduler = OFF"))
			passes("with a scheduler that is off")
			w.must(n1.do(ctx, "", "SET GLOBAL event_scheduler = ON", "CREATE USER plain", "ALTER DEFINER = plain EVENT shop.`tick tock` ENABLE"))
			passes("with a definer who may not")
			w.must(n1.do(ctx, "", "ALTER DEFINER = ticker EVENT shop.`tick tock` ENABLE", "DROP USER plain"))
			var refusal *hint.PermanentError
			if _, err := w.task(checkSwitchoverAction, check).Check(ctx, w.on.ReadOnly()); !errors.As(err, &refusal) {
				t.Fatal(err)
			}
			advised := regexp.MustCompile(`execute (.+?) on n1`).FindStringSubmatch(refusal.Advice)
			if advised == nil {
				t.Fatal(refusal.Advice)
			}
			w.must(n1.do(ctx, "", advised[1]))
		}
		passes("as it is advised")
		w.mayWriteStill()

		w.does(caughtUpAction, `{node: n2}`)
		w.must(setMode(ctx, n1, n1.refusing()))
		next, _ := w.does(promoteAction, `{node: n2, old: n1}`)[action.Next].(string)
		enable := "ALTER DEFINER = `ticker`@`%` EVENT `shop`.`tick tock` ENABLE"
		if !strings.HasPrefix(next, "n2 does not execute events that came to it by replication.") || !strings.Contains(next, enable) {
			t.Errorf("promoted, next: %q", next)
		}
		n2 := w.server("n2")
		w.must(n2.do(ctx, "", enable))
		w.follow(t, "n1", "n2")
		w.does(caughtUpAction, `{node: n1, source: n2}`)
		for node, want := range map[string]string{"n1": "SIDE_DISABLED ticker@%", "n2": "ENABLED ticker@%"} {
			if got, err := w.server(node).value(ctx, "SELECT CONCAT(status, ' ', definer) FROM information_schema.EVENTS WHERE event_name = 'tick tock'"); err != nil || !strings.HasSuffix(got, want) {
				t.Errorf("the event on %s is %s, %v, want %s", node, got, err, want)
			}
		}
		w.must(n2.do(ctx, "", "DROP EVENT shop.`tick tock`", "DROP USER ticker"))
		w.does(caughtUpAction, `{node: n1, source: n2}`)
		w.stand(t, "n1", (*server).taking)
		w.follow(t, "n2", "n1")
		w.must(n1.do(ctx, "", "SET GLOBAL event_scheduler = "+scheduler))
		for _, node := range []string{"n2", "n3"} {
			w.does(caughtUpAction, `{node: `+node+`}`)
		}
	})
}

// mayWriteStill has somebody connected to n1 who may write although it is read-only, as nobody may on MySQL: a plan names who it is.
func (w fixture) mayWriteStill() {
	w.Helper()
	ctx := w.Context()
	node, err := w.on.Node(ctx, "n1")
	w.must(err)
	target := node.Target
	target.User, target.Password = "ticker", "t"
	db, err := enginemysql.Engine{}.Open(ctx, target)
	w.must(err)
	defer func() { _ = db.Close() }()
	session, err := db.Session(ctx)
	w.must(err)
	defer func() { _ = session.Close() }()
	cautions := w.task(demoteAction, `{node: n1}`).(action.Cautioned).Cautions(ctx, w.on.ReadOnly())
	if w.server("n1").mariadb != (len(cautions) == 1 && strings.Contains(cautions[0].Text, "users who may write to a read-only server are connected to n1: ticker.")) {
		w.Errorf("cautions: %v", cautions)
	}
}
