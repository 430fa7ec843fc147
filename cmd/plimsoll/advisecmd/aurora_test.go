package advisecmd

import (
	"errors"
	"testing"

	"plimsoll/hint"
)

// What AWS did not tell is a sentence: the same reason of two services once, and what can be done in place of what the library says.
func TestWhatAWSDidNotTellIsASentence(t *testing.T) {
	raw := errors.New("operation error RDS: DescribeDBClusters,\nget identity: no EC2 IMDS role found")
	for want, all := range map[string][]answer{
		"RDS and CloudWatch did not answer: log in": {{"RDS", hint.With(raw, "log in")}, {"CloudWatch", hint.With(errors.New("other words"), "log in")}},
		"CloudWatch did not answer: the credentials lack the permission cloudwatch:GetMetricData": {
			{"RDS", nil}, {"CloudWatch", hint.With(raw, "the credentials lack the permission cloudwatch:GetMetricData")},
		},
		"RDS did not answer: operation error RDS: DescribeDBClusters, get identity: no EC2 IMDS role found; CloudWatch did not answer: log in": {{"RDS", raw}, {"CloudWatch", hint.With(raw, "log in")}},
	} {
		if got := unanswered(all...); got == nil || got.Error() != want {
			t.Errorf("%v, want %q", got, want)
		}
	}
	if err := unanswered(answer{"RDS", nil}); err != nil {
		t.Error(err)
	}
}
