package catalog

import (
	"reflect"
	"slices"
	"testing"

	"plimsoll/internal/document"
	"plimsoll/trial/spec"
)

// In a trial the keys of a load and the parameters of its workload stand side by side.
func TestNoParameterHasTheNameOfAKeyOfALoad(t *testing.T) {
	keys := document.Keys(reflect.TypeFor[spec.Load]())
	seen := 0
	for _, w := range Workloads() {
		for _, p := range w.Parameters {
			if seen++; slices.Contains(keys, p.Name) {
				t.Errorf("%s is a parameter of %s and a key of load", p.Name, w.Name)
			}
		}
	}
	if seen == 0 {
		t.Error("no workload has parameters")
	}
}
