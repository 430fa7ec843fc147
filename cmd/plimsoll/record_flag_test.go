package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/aws/record"
)

// The Price List of this test is a stand-in, awstest.
func TestAnswersOfAWSAreRecorded(t *testing.T) {
	cloud := awstest.New(t)
	cloud.Prices.Add("2026-11-20T08:00:00Z", awstest.PriceEntry{Service: "AmazonRDS", Family: "Database Instance", Unit: "Hrs", USD: "0.8120000000", Attributes: map[string]string{
		"regionCode": "eu-central-1", "instanceType": "db.m5.2xlarge", "databaseEngine": "MySQL", "deploymentOption": "Single-AZ", "usagetype": "EUC1-InstanceUsage:db.m5.2xlarge",
	}}, awstest.PriceEntry{Service: "AmazonRDS", Family: "Database Storage", Unit: "GB-Mo", USD: "0.1370000000", Attributes: map[string]string{
		"regionCode": "eu-central-1", "databaseEngine": "Any", "deploymentOption": "Single-AZ", "usagetype": "EUC1-RDS:GP3-Storage",
	}})
	t.Setenv("PLIMSOLL_HOME", t.TempDir())
	t.Setenv(record.Variable, "") // which the flag sets
	folder := filepath.Join(t.TempDir(), "kept")
	var said strings.Builder
	if status := program(t.Context(), []string{"prices", "update", "--region", "eu-central-1", "--endpoint", cloud.URL, "--record", folder},
		console.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &said}); status != 0 {
		t.Fatalf("status %d: %s", status, said.String())
	}
	calls, err := record.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	has := false
	for _, c := range calls {
		if c.Service != "Pricing" || c.Action != "GetProducts" || c.Status != 200 || !strings.Contains(c.Request, `"FormatVersion":"aws_v1"`) {
			t.Errorf("%+v", c)
		}
		has = has || strings.Contains(c.Body, `\"instanceType\":\"db.m5.2xlarge\"`)
	}
	if !has {
		t.Errorf("no class in %d answers", len(calls))
	}
	if got := cloud.Asked("GetProducts"); got != len(calls) {
		t.Errorf("%d of %d requests are recorded", len(calls), got)
	}
}
