package action

import (
	"fmt"
	"testing"
)

func TestASizeStandsBesideTheOtherInItsUnit(t *testing.T) {
	for _, c := range []struct{ observed, intended, was, willBe any }{
		{"134217728", "160M", "128M", "160M"},
		{"134217728", "1g", "134217728", int64(1 << 30)},
		{"134217728", "268435456", "134217728", "268435456"},
		{"134217729", "160M", int64(134217729), int64(160 << 20)},
		{"ON", "OFF", "ON", "OFF"},
		{nil, "160M", nil, "160M"},
		{24873, Another, 24873, "a new one"},
	} {
		if was, willBe := InOneUnit(c.observed, c.intended); fmt.Sprintf("%v %v", was, willBe) != fmt.Sprintf("%v %v", c.was, c.willBe) {
			t.Errorf("%v → %v is written %v → %v", c.observed, c.intended, was, willBe)
		}
	}
}
