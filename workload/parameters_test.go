package workload_test

import (
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
	"plimsoll/workload/internal/recorder"
)

type basics struct {
	Rows int64  `yaml:"rows" min:"1" max:"1000000" doc:"how many"`
	Kind string `yaml:"kind" oneof:"big|small" doc:"what kind"`
}

type parameters struct {
	basics
	Theta float64 `yaml:"theta" min:"0" doc:"skew"`
	Logs  bool    `yaml:"logs" doc:"whether"`
	Found int64   `yaml:"found" default:"as many as there are" doc:"found"`
}

func maker(got *parameters) workload.Maker {
	defaults := parameters{basics: basics{Rows: 100, Kind: "small"}, Theta: 0.99}
	return workload.Make("sample", "a sample", defaults,
		func(p parameters, _ *document.Node, _ engine.Engine) (workload.Workload, error) {
			*got = p
			return nil, nil
		})
}

func TestParametersAreReadOverTheirDefaults(t *testing.T) {
	var got parameters
	n, _ := document.Parse("t.yaml", []byte("rows: 1M\nkind: big\nlogs: true\n"))
	if _, err := maker(&got).New(n, &recorder.Recorder{}); err != nil {
		t.Fatal(err)
	}
	if got != (parameters{basics: basics{1_000_000, "big"}, Theta: 0.99, Logs: true}) {
		t.Errorf("got %+v", got)
	}
	if _, err := maker(&got).New(nil, &recorder.Recorder{}); err != nil || got.Rows != 100 {
		t.Errorf("no parameters: %+v, %v", got, err)
	}
}

func TestParametersOutOfBoundsAreRefusedAtTheirPlace(t *testing.T) {
	n, _ := document.Parse("t.yaml", []byte("rows: 0\nkind: bigg\ntheta: -1\n"))
	var got parameters
	_, err := maker(&got).New(n, &recorder.Recorder{})
	want := `t.yaml:1:7: 0, expected at least 1
t.yaml:2:7: unknown kind "bigg", expected big or small (did you mean "big"?)
t.yaml:3:8: -1, expected at least 0`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nexpected\n%s", err, want)
	}
	n, _ = document.Parse("t.yaml", []byte("rows: 2M\nrow: 1\n"))
	_, err = maker(&got).New(n, &recorder.Recorder{})
	if err == nil || !strings.Contains(err.Error(), `t.yaml:2:1: unknown key "row"`) || !strings.Contains(err.Error(), `did you mean "rows"?`) {
		t.Errorf("got %v", err)
	}
}

func TestReferenceIsMadeOfTheTags(t *testing.T) {
	var b strings.Builder
	if err := workload.WriteReference(&b, maker(new(parameters))); err != nil {
		t.Fatal(err)
	}
	want := "| parameter | default | |\n|---|---|---|\n" +
		"| `rows` | 100 | how many |\n" +
		"| `kind` | small | what kind: big, small |\n" +
		"| `theta` | 0.99 | skew |\n" +
		"| `logs` | false | whether |\n" +
		"| `found` | as many as there are | found |\n"
	if b.String() != want {
		t.Errorf("got\n%s\nexpected\n%s", &b, want)
	}
}
