package store

import (
	"fmt"
	"strings"
	"testing"
)

func TestWhatARuleCompares(t *testing.T) {
	for expr, want := range map[string]string{
		`plimsoll_replica_lag_seconds > 30`:                           `plimsoll_replica_lag_seconds{instance="a/n1"} plimsoll_replica_lag_seconds 30`,
		`deriv(x[5m]) > 0.5 and x > 10`:                               `deriv(x{instance="a/n1"}[5m])  0.5`,
		`free / total < 0.1 or (predict_linear(free[6h], 86400) < 0)`: `free{instance="a/n1"} / total{instance="a/n1"}  0.1; predict_linear(free{instance="a/n1"}[6h], 86400)  0`,
		`rate(x[1m]) > 2 * rate(x[1m] offset 1d)`:                     `rate(x{instance="a/n1"}[1m])  none`,
		`-1 < x unless y`:                                             `x{instance="a/n1"} x -1`,
		`sum by (instance) (x{instance="b"}) > (1)`:                   `sum by (instance) (x{instance="b"})  1`,
		`up`: `up{instance="a/n1"} up none`,
	} {
		all, err := Comparisons(expr, "a/n1")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range all {
			limit := "none"
			if c.Limit != nil {
				limit = fmt.Sprint(*c.Limit)
			}
			got = append(got, fmt.Sprintf("%s %s %s", c.Expr, c.Operand, limit))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s:\n%s\nexpected\n%s", expr, s, want)
		}
	}
	if _, err := Comparisons("x >", ""); err == nil {
		t.Error("half an expression is taken")
	}
	if all, err := Comparisons("x > 1", ""); err != nil || all[0].Expr != "x" {
		t.Errorf("of all instances: %v, %v", all, err)
	}
}
