package custom

import (
	"os"
	"testing"

	"plimsoll/internal/document/documenttest"
	"plimsoll/workload/internal/recorder"
)

func TestNoWorkloadPanics(t *testing.T) {
	db := sqlEngine{&recorder.Recorder{Mute: true}}
	for _, name := range []string{"orders", "data-api"} {
		text, err := os.ReadFile("../../examples/workloads/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(name+".yaml", text, noon); err != nil {
			t.Fatal(err)
		}
		documenttest.EachMutant(t, string(text), func(text []byte) { _, _ = try(t, db, "mutant.yaml", string(text), "") })
	}
}
