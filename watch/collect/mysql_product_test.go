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
