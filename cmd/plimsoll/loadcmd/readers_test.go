package loadcmd

import (
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/trial/spec"
)

func TestReadsOfReplicasWantAPrimary(t *testing.T) {
	target, err := engine.ParseTarget("cql://127.0.0.1:1,127.0.0.2:1/test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readReplicas(t.Context(), console.Streams{}, target, nil, spec.Load{}); err == nil || !strings.Contains(err.Error(), "cql has no replicas of a primary") {
		t.Errorf("reads of a ring's replicas: %v", err)
	}
}
