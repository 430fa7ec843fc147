package superdisk

import (
	"context"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/action/actiontest"
	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/internal/machinetest"
)

func TestMain(m *testing.M) { machinetest.Main(m) }

// newStage boots a machine, beside those of other tests, whose addresses have another number.
func newStage(t *testing.T, net int) *stage {
	t.Parallel()
	host := machinetest.New(t, net)
	m := host.Boot(t, "one")
	s := &stage{Machine: m, host: host, devices: map[string]string{}, local: host.Volume(t, 384<<20, "one"), network: host.Volume(t, 384<<20, "one")}
	s.cluster = &cluster.Cluster{Name: "c", Environment: "lab", Local: here(t), Volumes: host.Volumes, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: "n1", Machine: m}}, nil
	}}
	return s
}

func here(t *testing.T) infra.Machine {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (s *stage) task(t *testing.T, name string, with ...string) action.Task {
	t.Helper()
	return actiontest.Task(t, Actions(), name, strings.Join(with, "\n"))
}
