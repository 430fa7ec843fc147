package watchcmd

import (
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/home"
	"plimsoll/watch"
	"plimsoll/watch/settings"
)

// Whose load it was is told of the period that is asked for, and not of now: a statement that ran in its first half is there with half of its load.
func TestStatementsOfAStretchOfTime(t *testing.T) {
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	deps, err := home.LabDeps()
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenService(t.Context(), nil, &settings.Settings{}, deps, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // it was only read
	if err := s.texts.Keep([]watch.Statement{{Digest: "early", Text: "SELECT ? FROM early"}, {Digest: "always", Text: "COMMIT"}}); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Truncate(time.Second)
	begin := end.Add(-10 * time.Minute)
	for second := range 600 {
		at := begin.Add(time.Duration(second) * time.Second)
		var r watch.Reading
		r.Add(at, "plimsoll_aas", 3, "wait", "cpu")
		if second%10 == 0 {
			r.Add(at, "plimsoll_statement_readings", 1)
			r.Add(at, "plimsoll_statement_aas", 1, "digest", "always", "schema", "shop")
			r.Add(at, "plimsoll_statement_calls_per_second", 50, "digest", "always", "schema", "shop")
			r.Add(at, "plimsoll_user_aas", 3, "user", "app", "host", "10.0.0.1")
			if second < 300 {
				r.Add(at, "plimsoll_statement_aas", 2, "digest", "early", "schema", "shop")
			}
		}
		for i := range r.Samples {
			r.Samples[i].Labels = append(r.Samples[i].Labels, watch.Label{Name: "instance", Value: "shop/n1"})
		}
		// A server in distress, which was not asked for its statements in the second half; and one of which a store of before tells, without readings.
		for _, one := range r.Samples {
			if one.Name == "plimsoll_aas" || second < 300 {
				r.Samples = append(r.Samples, watch.Sample{Name: one.Name, At: one.At, Value: one.Value, Labels: onInstance(one.Labels, "shop/n2")})
			}
			if one.Name != "plimsoll_statement_readings" {
				r.Samples = append(r.Samples, watch.Sample{Name: one.Name, At: one.At, Value: one.Value, Labels: onInstance(one.Labels, "shop/n3")})
			}
		}
		if err := s.Series.Append(t.Context(), r.Samples); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		from, to time.Duration // from the beginning
		want     map[string]float64
		first    string
	}{
		"the first half":  {0, 5 * time.Minute, map[string]float64{"SELECT ? FROM early": 2, "COMMIT": 1}, "SELECT ? FROM early"},
		"the second half": {5 * time.Minute, 10 * time.Minute, map[string]float64{"COMMIT": 1}, "COMMIT"},
		"all of it":       {0, 10 * time.Minute, map[string]float64{"SELECT ? FROM early": 1, "COMMIT": 1}, ""},
	} {
		all, err := s.Statements(t.Context(), "shop/n1", begin.Add(c.from), begin.Add(c.to-time.Second))
		if err != nil || len(all) != len(c.want) || c.first != "" && all[0].Text != c.first {
			t.Errorf("%s: %+v, %v, want %v", name, all, err, c.want)
		}
		for _, st := range all {
			if want := c.want[st.Text]; math.Abs(st.AAS-want) > 0.05*want || st.Database != "shop" {
				t.Errorf("%s: %+v, want %v", name, st, want)
			}
			if st.Text == "COMMIT" && (st.Calls == nil || math.Abs(*st.Calls-50) > 2.5 || math.Abs(*st.Average-0.02) > 0.001) {
				t.Errorf("%s: calls %v, average %v", name, st.Calls, st.Average)
			}
		}
	}
	for instance, c := range map[string]struct{ early, always float64 }{"shop/n2": {2, 1}, "shop/n3": {1, 1}} {
		all, err := s.Statements(t.Context(), instance, begin, end)
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %+v, %v", instance, all, err)
		}
		for _, st := range all {
			if want := map[string]float64{"early": c.early, "always": c.always}[st.Digest]; math.Abs(st.AAS-want) > 0.05*want {
				t.Errorf("%s: %+v, want %v", instance, st, want)
			}
		}
	}
	callers, err := s.Callers(t.Context(), "shop/n1", begin, end)
	if err != nil || len(callers) != 1 || callers[0].User != "app" || callers[0].Host != "10.0.0.1" || math.Abs(callers[0].AAS-3) > 0.1 {
		t.Errorf("%+v, %v", callers, err)
	}
	if all, err := s.Statements(t.Context(), "shop/n9", begin, end); err != nil || len(all) != 0 {
		t.Errorf("of an instance that nobody watches: %+v, %v", all, err)
	}
}

func onInstance(labels []watch.Label, instance string) []watch.Label {
	all := slices.DeleteFunc(slices.Clone(labels), func(l watch.Label) bool { return l.Name == "instance" })
	return append(all, watch.Label{Name: "instance", Value: instance})
}
