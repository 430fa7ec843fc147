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
	if traits := e.Traits(); traits.Repeatable || traits.Effect != NoUndo {
		t.Errorf("%+v", traits)
	}
}

// What nobody wrote an undo for is not therefore irreversible: DROP INDEX takes ADD INDEX back.
func TestWhatHasNoUndoIsNotSaidToBeIrreversible(t *testing.T) {
	for _, c := range []struct {
		task Task
		want Effect
	}{
		{&execute{Statements: []string{"ALTER TABLE t ADD INDEX i (c)"}}, NoUndo},
		{&execute{Statements: []string{"ALTER TABLE t ADD INDEX i (c)"}, Undone: []string{"ALTER TABLE t DROP INDEX i"}}, Reversible},
		{&command{Run: "true"}, NoUndo},
		{&command{Run: "true", Undone: "true"}, Reversible},
		{&command{Run: "true", Effect: Irreversible}, Irreversible},
		{&command{Run: "true", Effect: None}, None},
	} {
		if is := c.task.Traits().Effect; is != c.want {
			t.Errorf("%+v is %s, expected %s", c.task, is, c.want)
		}
	}
}
