package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra/aws/awstest"
)

// How full the burst bucket of an RDS instance is, is asked of CloudWatch; where it does not say, that is said. The API is a stand-in's (awstest), for no
// account of AWS was there to be asked; the servers are real ones of MySQL.
func TestAdviceOnRDSAsksHowFullTheBucketIs(t *testing.T) {
	if apart(t) {
		return
	}
	if testing.Short() {
		t.Skip("starts real servers")
	}
	s := pairOfRDS(t, false, 2)
	ask := func(args ...string) string {
		t.Helper()
		text, failed, status := told(t, append([]string{"advise", "storage", "orders", "--for", "4s", "--json"}, args...)...)
		var r advise.Report
		if err := json.Unmarshal([]byte(text), &r); status != 0 || err != nil || len(r.Findings) != 1 {
			t.Fatalf("status %d, %v: %s%s", status, err, text, failed)
		}
		return strings.Join(append(r.Findings[0].Evidence, r.Unknown...), "\n")
	}
	if said := ask(); !strings.Contains(said, "The volume is gp2 of 100 GiB: 300 operations per second sustained, 3000 while it bursts; the fill level of its burst bucket is unknown and assumed to be full") {
		t.Errorf("CloudWatch shows nothing: %s", said)
	}
	minute := time.Now().Truncate(time.Minute)
	s.api.Metrics.Put("orders", "BurstBalance", minute.Add(-4*time.Minute), 50)
	s.api.Metrics.Put("orders", "BurstBalance", minute.Add(-2*time.Minute), 34)
	s.api.Metrics.Put("orders-2", "BurstBalance", minute.Add(-2*time.Minute), 99)
	if said := ask(); !strings.Contains(said, "its bucket is 34 % full") {
		t.Errorf("CloudWatch shows 34 %%: %s", said)
	}
	if said := ask("--balance", "7%"); !strings.Contains(said, "its bucket is 7 % full") {
		t.Errorf("what a person says comes first: %s", said)
	}
	s.api.Fail("GetMetricData", awstest.Denied)
	if said := ask(); !strings.Contains(said, "unknown and assumed to be full") || !strings.Contains(said, "Burst bucket: cloudwatch:GetMetricData") || !strings.Contains(said, "--balance 35% says how full it is") {
		t.Errorf("CloudWatch refuses: %s", said)
	}
}

// told runs the whole program.
func told(t *testing.T, args ...string) (out, failed string, status int) {
	t.Helper()
	var o, e strings.Builder
	status = program(t.Context(), args, console.Streams{In: strings.NewReader(""), Out: &o, Err: &e})
	return o.String(), e.String(), status
}
