package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"plimsoll/internal/document"
	"plimsoll/watch"
	"plimsoll/watch/store"
)

// testFile is a file of tests in the form of promtool test rules, as far as it is read here: series, and the alerts that then fire.
type testFile struct {
	RuleFiles []string      `yaml:"rule_files,required"`
	Every     time.Duration `yaml:"evaluation_interval"`
	Tests     []ruleTest    `yaml:"tests,required"`
}

type ruleTest struct {
	Name     string        `yaml:"name"`
	Interval time.Duration `yaml:"interval"`
	Series   []testSeries  `yaml:"input_series"`
	Alerts   []alertTest   `yaml:"alert_rule_test"`
}

type testSeries struct {
	Series string `yaml:"series,required"`
	Values string `yaml:"values,required"`
}

type alertTest struct {
	At       time.Duration   `yaml:"eval_time,required"`
	Alert    string          `yaml:"alertname,required"`
	Expected []expectedAlert `yaml:"exp_alerts"`
}

type expectedAlert struct {
	Labels      map[string]string `yaml:"exp_labels"`
	Annotations map[string]string `yaml:"exp_annotations"`
}

// Test runs the tests of a file, which is written as promtool has it, and returns what did not come out as expected, and the expressions of
// the rules that fired as expected. The names of the files of rules are relative to it.
func Test(ctx context.Context, file string) (failures []string, tested map[string]bool, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read tests: %w", err)
	}
	root, err := document.Parse(file, text)
	if err != nil {
		return nil, nil, err
	}
	var tests testFile
	if err := root.Decode(&tests); err != nil {
		return nil, nil, err
	}
	for n, name := range tests.RuleFiles {
		tests.RuleFiles[n] = filepath.Join(filepath.Dir(file), name)
	}
	groups, err := Read(tests.RuleFiles...)
	if err != nil {
		return nil, nil, err
	}
	tested = map[string]bool{}
	for n, t := range tests.Tests {
		failed, err := t.run(ctx, groups, cmp.Or(tests.Every, time.Minute), tested)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range failed {
			failures = append(failures, fmt.Sprintf("%s: test %d %s: %s", file, n+1, t.Name, f))
		}
	}
	return failures, tested, nil
}

func (t ruleTest) run(ctx context.Context, groups []store.Group, every time.Duration, tested map[string]bool) (failures []string, err error) {
	folder, err := os.MkdirTemp("", "plimsoll-rules")
	if err != nil {
		return nil, fmt.Errorf("make a folder for a test: %w", err)
	}
	defer os.RemoveAll(folder)
	s, err := store.Open(folder, store.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	begin := time.Now().Add(-48 * time.Hour).Truncate(time.Minute)
	var samples []watch.Sample
	for _, series := range t.Series {
		got, err := s.ParseSeries(series.Series, series.Values, begin, cmp.Or(t.Interval, time.Minute))
		if err != nil {
			return nil, err
		}
		samples = append(samples, got...)
	}
	slices.SortStableFunc(samples, func(a, b watch.Sample) int { return a.At.Compare(b.At) })
	if err := s.Append(ctx, samples); err != nil {
		return nil, err
	}
	last := time.Duration(0)
	for _, a := range t.Alerts {
		last = max(last, a.At)
	}
	now := begin
	e := New(Config{Series: s, Groups: groups, Now: func() time.Time { return now }})
	for at := time.Duration(0); at <= last; at += every {
		now = begin.Add(at)
		e.Evaluate(ctx, now)
		for _, a := range t.Alerts {
			if a.At == at {
				failures = append(failures, a.compare(e.Alerts(), annotationsOf(groups), tested)...)
			}
		}
	}
	return failures, nil
}

// annotationsOf returns the annotations of each rule that alerts, by its expression.
func annotationsOf(groups []store.Group) map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, g := range groups {
		for _, r := range g.Rules {
			all[r.Expr] = r.Annotations
		}
	}
	return all
}

// compare tells what is missing and what is too much. declared has the annotations of the rules, by expression: as for promtool, one whose
// text came out empty is there, and is to be expected as "".
func (a alertTest) compare(active []watch.Alert, declared map[string]map[string]string, tested map[string]bool) (failures []string) {
	fired := map[string]watch.Alert{}
	for _, alert := range active {
		if alert.State == Firing && alert.Rule == a.Alert {
			labels := map[string]string{}
			for name, value := range alert.Labels {
				if name != "alertname" {
					labels[name] = value
				}
			}
			fired[keyOf(labels)] = alert
		}
	}
	for _, want := range a.Expected {
		key := keyOf(want.Labels)
		got, is := fired[key]
		if !is {
			failures = append(failures, fmt.Sprintf("at %v, %s does not fire with %s", a.At, a.Alert, key))
			continue
		}
		tested[got.Expr] = true
		for name, said := range map[string]string{"summary": got.Summary, "why": got.Why, "do": got.Do, "runbook": got.Runbook, "inputs": got.Inputs} {
			if text := want.Annotations[name]; text != said && (text != "" || name != "summary") { // a rule without one is called by its name
				failures = append(failures, fmt.Sprintf("at %v the %s of %s is %q, want %q", a.At, name, a.Alert, said, text))
			}
			_, isExpected := want.Annotations[name]
			if _, is := declared[got.Expr][name]; is && said == "" && !isExpected {
				failures = append(failures, fmt.Sprintf("at %v the %s of %s is empty: promtool wants it written as %s: \"\"", a.At, name, a.Alert, name))
			}
		}
		delete(fired, key)
	}
	for key := range fired {
		failures = append(failures, fmt.Sprintf("at %v %s fires with %s", a.At, a.Alert, key))
	}
	return failures
}
