package run

import (
	"context"
	"slices"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/trial/spec"
	"plimsoll/trial/spec/spectest"
	"plimsoll/workload"
)

const severally = `trial: many
cluster: {engine: mysql, nodes: 3, topology: separate}
load: {workload: oltp, on: [n1, n2]}
`

func TestLoadOnSeparateServersHasADataSetOnEach(t *testing.T) {
	c := spectest.Parse(t, severally, spec.Options{}).Cells[0]
	var all []string
	for _, d := range c.Datasets([]string{"n1", "n2", "n3"}) {
		all = append(all, strings.Join(d.Nodes, "+")+"/"+d.Namespace)
	}
	if want := []string{"n1/app1", "n2/app2"}; !slices.Equal(all, want) {
		t.Errorf("data sets %v, want %v", all, want)
	}
	c.Load.On = nil
	if all := c.Datasets([]string{"n1", "n2"}); len(all) != 1 || len(all[0].Nodes) != 2 || all[0].Namespace != spec.Namespace {
		t.Errorf("without on: %+v", all)
	}
	for change, want := range map[string]string{
		"topology: separate|topology: apart":         `unknown topology "apart"`,
		", topology: separate|":                      "independent servers",
		"[n1, n2]|[n1, n4]":                          `node "n4"`,
		"[n1, n2]|[n1, n1]":                          `node "n1", expected each once`,
		"[n1, n2]|[\"\"]":                            `node ""`,
		"on: [n1, n2]|on: [n1], to: all":             "one data set on all nodes",
		"on: [n1, n2]|on: [n1], ledger: {rate: 200}": "a ledger is kept on one data set",
	} {
		from, to, _ := strings.Cut(change, "|")
		_, err := spec.Parse("trial.yaml", []byte(strings.Replace(severally, from, to, 1)), spec.Options{}, spectest.Parts())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change, err, want)
		}
	}
}

// dealt notes which data set its clients are for.
type dealt struct {
	workload.Workload
	to *[]string
}

func (d dealt) Connect(db engine.Database, _ uint64) load.Connect {
	return func(_ context.Context, worker int) (load.Client, error) {
		*d.to = append(*d.to, db.(named).name+string(rune('0'+worker)))
		return nil, nil
	}
}

type named struct {
	engine.Database
	name string
}

func TestClientsAreDealtOutInTurn(t *testing.T) {
	var to []string
	connect := connect((&spec.Cell{Workload: dealt{to: &to}}), []engine.Database{named{name: "a"}, named{name: "b"}}, 1)
	for worker := range 5 {
		if _, err := connect(t.Context(), worker); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"a0", "b0", "a1", "b1", "a2"}; !slices.Equal(to, want) {
		t.Errorf("%v, want %v", to, want)
	}
}
