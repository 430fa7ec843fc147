package kube_test

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/hint"
)

// A run keeps and shows the former value and the new one: a parameter that holds a secret is refused, and neither value is told.
func TestAParameterThatHoldsASecretIsRefused(t *testing.T) {
	for _, c := range []struct{ name, has, value, says string }{
		{"report-password", "hidden1", "hidden2", "report-password holds a secret"},
		{"wsrep_sst_auth", "", "sst:hidden2", "wsrep_sst_auth holds a secret"},
		{"init_connect", "SET @a = 1", "SET @db_pwd='hidden2'", "the given value of init_connect may hold a secret"},
		{"init_connect", "SET @db_pwd='hidden1'", "SET @a = 1", "the present value of init_connect may hold a secret"},
	} {
		w := newMariaDB(t)
		w.Operator = nil
		w.set("spec.myCnf", "[mariadb]\n"+c.name+"="+c.has+"\n")
		found, err := w.task(t, "kube.set-parameter", `{name: `+c.name+`, value: "`+c.value+`"}`).Check(t.Context(), w.on)
		var refusal *hint.PermanentError
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, c.says) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%+v: %v", c, err)
		}
		if len(found.Observed) > 0 || len(found.Intended) > 0 {
			t.Errorf("%+v: a value is told: %v", c, found)
		}
	}
}
