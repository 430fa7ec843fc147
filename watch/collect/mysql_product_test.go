package collect

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// variables is a session of a server that shows some variables.
type variables struct {
	silent
	shown [][2]string
}

func (v variables) Exec(_ context.Context, text string, r *engine.Result) error {
	if text == "SHOW GLOBAL VARIABLES" {
		r.Columns, r.Rows, r.Values = 2, len(v.shown), nil
		for _, one := range v.shown {
			r.Values = append(r.Values, engine.Chars([]byte(one[0])), engine.Chars([]byte(one[1])))
		}
	}
	return nil
}

// An instance of RDS or Aurora is known by its server's variables, without AWS.
func TestInstancesOfRDSAreKnownByTheirVariables(t *testing.T) {
	for name, c := range map[string]struct {
		shown [][2]string
		rds   bool
	}{
		"MariaDB of one's own": {[][2]string{{"version", "11.4.5-MariaDB"}, {"basedir", "/usr"}}, false},
		"RDS for MySQL":        {[][2]string{{"version", "8.0.40"}, {"basedir", "/rdsdbbin/mysql-8.0.40.R3/"}}, true},
		"Aurora MySQL":         {[][2]string{{"version", "8.0.39"}, {"aurora_version", "3.08.1"}, {"basedir", "/opt/aurora/"}}, true},
	} {
		s := MySQL(nil, 1)[1].(*slow)
		s.session = variables{shown: c.shown}
		var r watch.Reading
		if err := s.settingsChanged(t.Context(), time.Now(), &r); err != nil {
			t.Fatal(err)
		}
		if is := slices.ContainsFunc(r.Samples, func(s watch.Sample) bool { return s.Name == "plimsoll_rds" && s.Value == 1 }); is != c.rds {
			t.Errorf("%s: on RDS %v", name, is)
		}
		if is := slices.ContainsFunc(r.Samples, func(s watch.Sample) bool { return s.Name == "plimsoll_aurora" && s.Value == 1 }); is != strings.HasPrefix(name, "Aurora") {
			t.Errorf("%s: on Aurora %v", name, is)
		}
	}
}

// restarted is a session of a MySQL whose performance schema is on or off.
type restarted struct {
	silent
	schema string
}

func (r restarted) Table(context.Context, string) ([]map[string]string, error) {
	return []map[string]string{{"Variable_name": "version", "Value": "8.4.3"}, {"Variable_name": "performance_schema", "Value": r.schema}}, nil
}

func (r restarted) Exec(_ context.Context, text string, _ *engine.Result) error {
	if strings.Contains(text, "INNODB_LOCK_WAITS") {
		return &engine.Error{Kind: engine.Missing, Text: "Unknown table 'INNODB_LOCK_WAITS' in information_schema"}
	}
	return nil
}

// What a server hides is told once, however often its connection was lost, and no longer once a restart has switched its performance schema on.
func TestWhatAServerHidesIsToldUntilARestartShowsIt(t *testing.T) {
	q := MySQL(nil, 1)[0].(*quick)
	for _, c := range []struct {
		schema          string
		findings, lacks int
	}{{"OFF", 1, 3}, {"OFF", 1, 3}, {"ON", 0, 1}, {"OFF", 1, 3}} {
		q.session, q.shape.asked = restarted{schema: c.schema}, false
		if err := q.ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		found, lacks := q.shape.instance.Findings, q.watching().Lacks
		if len(found) != c.findings || len(lacks) != c.lacks || len(found) == 1 && !strings.Contains(found[0].Text, "who holds a row lock or a metadata lock that others wait for") {
			t.Errorf("performance_schema=%s: %+v, it lacks %q", c.schema, found, lacks)
		}
	}
}

// An upgrade is a change of the version, not of a setting, though the server shows it among its settings.
func TestAnUpgradeIsAChangeOfTheVersion(t *testing.T) {
	const question = "SHOW GLOBAL VARIABLES"
	server := answering{rows: map[string][][]string{question: {{"version", "10.11.18-MariaDB"}, {"sync_binlog", "1"}}}}
	s := &slow{link: &link{session: server, meter: &meter{}}, settings: follower{kind: "setting"}}
	var r watch.Reading
	for _, version := range []string{"10.11.18-MariaDB", "10.11.19-MariaDB"} {
		server.rows[question][0][1] = version
		if err := s.settingsChanged(t.Context(), time.Now(), &r); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.Changes) != 1 || r.Changes[0].Kind != "version" || r.Changes[0].From != "10.11.18-MariaDB" || r.Changes[0].To != "10.11.19-MariaDB" {
		t.Errorf("the changes are %+v", r.Changes)
	}
}
