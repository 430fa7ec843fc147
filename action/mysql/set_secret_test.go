package mysql

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// A run keeps and shows the former value and the new one: a variable that holds a secret is refused, and neither value is told.
func TestAVariableThatHoldsASecretIsRefused(t *testing.T) {
	for _, c := range []struct {
		name, live, assigned, value string
		persist                     persist
		says                        string // "": it is not refused
	}{
		{"report_password", "hidden1", "", "hidden2", persistNo, "report_password holds a secret"},
		{"report-password", "hidden1", "", "hidden2", persistAlso, "report_password holds a secret"},
		{"wsrep_sst_auth", "hidden1", "", "hidden2", persistOnly, "wsrep_sst_auth holds a secret"},
		{"init_connect", "SET @a = 1", "", "SET @db_pwd='hidden1'", persistNo, "the given value of init_connect may hold a secret"},
		{"init_connect", "SET @db_pwd='hidden1'", "", "SET @a = 1", persistNo, "the present value of init_connect may hold a secret"},
		{"init_connect", "SET @a = 1", "SET @db_pwd='hidden1'", "SET @a = 2", persistAlso, "the value for the next start of init_connect may hold a secret"},
		{"init_connect", "SET @a = 1", "", "SET @a = 2", persistNo, ""},
		{"max_connections", "151", "", "83", persistAlso, ""},
	} {
		s := &settings{live: map[string]string{c.name: c.live}, assigned: map[string]string{c.name: c.assigned}}
		on := &cluster.Cluster{Name: "c", Engine: s, List: func(context.Context) ([]cluster.Node, error) {
			return []cluster.Node{{Name: "n1", Server: s, Target: engine.Target{Addresses: []string{"10.0.0.1:3306"}}}}, nil
		}}
		found, err := (&variable{Node: "n1", Name: c.name, Value: c.value, Persist: c.persist}).Check(t.Context(), on)
		if c.says == "" {
			if err != nil || found.State != action.Needed {
				t.Errorf("%+v: %v, %v", c, found, err)
			}
			continue
		}
		refusal := (*hint.PermanentError)(nil)
		if !errors.As(err, &refusal) || !strings.Contains(refusal.Reason, c.says) || !strings.Contains(refusal.Advice, "by hand") {
			t.Errorf("%+v: %v", c, err)
		}
		if len(found.Observed) > 0 || len(found.Intended) > 0 || err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("%+v: a value is told: %v, %v", c, found, err)
		}
	}
}
