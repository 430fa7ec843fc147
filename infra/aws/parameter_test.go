package aws_test

import (
	"testing"

	"plimsoll/infra/aws"
)

func TestWhatRDSAllowsOfAParameter(t *testing.T) {
	for _, c := range []struct {
		allowed, value string
		allows         bool
	}{
		{"", "abc", true},
		{"1-100000", "300", true},
		{"1-100000", "abc", false},
		{"1-100000", "512M", false},
		{"1-100000", "100001", false},
		{"1-100000", "{DBInstanceClassMemory/12582880}", true},
		{"1-100000", "GREATEST({log(DBInstanceClassMemory/1000)},151)", true},
		{"0-31536000", "0.5", true},
		{"-1-1000", "-1", true},
		{"0,1", "true", false},
		{"0, 1", "1", true},
		{"ON,OFF", "on", true},
		{"ANSI,STRICT_TRANS_TABLES", "ANSI,STRICT_TRANS_TABLES", true},
		{"ANSI,STRICT_TRANS_TABLES", "ANSI,FOO", false},
	} {
		if got := (aws.Parameter{Allowed: c.allowed}).Allows(c.value); got != c.allows {
			t.Errorf("%q of %q: %v", c.value, c.allowed, got)
		}
	}
}
