package action

import "testing"

// A statement without a check has nothing that tells whether it was executed: it is planned as needed, nothing is said to be as it
// was, and it is not done again by itself when it was cut off.
func TestAStatementWithoutACheckTellsNothing(t *testing.T) {
	e := &execute{Statements: []string{"ALTER TABLE t ADD c INT"}}
	found, err := e.Check(t.Context(), nil)
	if err != nil || found.State != Needed || len(found.Observed) > 0 || found.Reason == "" {
		t.Errorf("%+v, %v", found, err)
	}
	if traits := e.Traits(); traits.Repeatable || traits.Effect != Irreversible {
		t.Errorf("%+v", traits)
	}
}
