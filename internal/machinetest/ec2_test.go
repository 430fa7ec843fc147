package machinetest_test

import (
	"context"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/infratest"
	"plimsoll/infra/uml"
	"plimsoll/internal/machinetest"
)

func TestMain(m *testing.M) { machinetest.Main(m) }

// The provider of EC2's volumes is held to the port's contract with real machines behind a stand-in for EC2: what is attached there is
// found within by its serial, what is mounted is busy, and what was written is there on the next. The API is not AWS's.
func TestVolumesOfEC2InRealMachines(t *testing.T) {
	host := machinetest.New(t, 45)
	s := awstest.NewEC2(t)
	s.Behind = host.Volumes
	machines := map[string]*uml.Machine{}
	for _, name := range []string{"i-00000000000000001", "i-00000000000000002"} {
		machines[name] = host.Boot(t, name)
		s.AddInstance(awstest.EC2Instance{ID: name, Zone: "a"})
	}
	s.Stopped = func(name string) { must(t, machines[name].Kill(context.WithoutCancel(t.Context()))) }
	e, err := aws.OpenEC2(t.Context(), aws.Options{Region: "r", Endpoint: s.URL})
	must(t, err)
	patience := aws.Patience{Every: 10 * time.Millisecond}
	v := &aws.Volumes{
		API:      func(context.Context) (*aws.EC2, error) { return e, nil },
		Inside:   func(_ context.Context, instance string) (infra.Machine, error) { return machines[instance], nil },
		Patience: patience,
	}
	infratest.RunVolumes(t, v, infra.VolumeSpec{Size: 1 << 30, Zone: "a"},
		infratest.Attachable{Name: "i-00000000000000001", Inside: machines["i-00000000000000001"], Stop: func(t *testing.T) {
			must(t, e.Stop(t.Context(), "i-00000000000000001", patience))
		}},
		infratest.Attachable{Name: "i-00000000000000002", Inside: machines["i-00000000000000002"]})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
