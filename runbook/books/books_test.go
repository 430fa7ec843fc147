package books

import (
	"slices"
	"testing"

	"plimsoll/action"
	"plimsoll/action/cql"
	"plimsoll/action/kube"
	"plimsoll/action/mysql"
	"plimsoll/action/mysql/replication"
	"plimsoll/action/rds"
	"plimsoll/action/singlestore"
	"plimsoll/action/superdisk"
	"plimsoll/action/volume"
	"plimsoll/engine"
	"plimsoll/runbook/journal"
)

func shipped() []action.Action {
	return slices.Concat(action.Generic(), action.Servers(), mysql.Actions(), cql.Actions(), singlestore.Actions(), superdisk.Actions(), volume.Actions(), rds.Actions(nil, rds.DefaultEvery, replication.MayTakeWrites, mysql.Claims{}), kube.Actions(kube.DefaultEvery))
}

func TestEveryShippedRunbookIsValidAndNamedAsItsFile(t *testing.T) {
	actions := shipped()
	if len(Names()) == 0 {
		t.Fatal("none ship")
	}
	for _, name := range Names() {
		b, err := Read(name, actions)
		if err != nil {
			t.Error(err)
			continue
		}
		if b.Gate == nil {
			t.Errorf("%s says nothing of a gate: it would be refused in production", name)
		}
		if b.Name != name || b.About == "" {
			t.Errorf("%s calls itself %q, about %q", name, b.Name, b.About)
		}
		required := Required(name)
		for input, in := range b.Inputs {
			if slices.Contains(required, input) != (in.Default == nil) {
				t.Errorf("%s requires %v, of which %s has the default %v", name, required, input, in.Default)
			}
		}
	}
}

// That it swept away what nobody needs any more does not keep a clone from being taken back.
func TestACloneCanBeTakenBackAfterASweep(t *testing.T) {
	book, err := Read("aurora/clone", shipped())
	if err != nil {
		t.Fatal(err)
	}
	st := &journal.State{Book: book}
	for n := range book.Steps {
		s := &book.Steps[n]
		i := &journal.Step{Key: s.ID, Step: s, Acts: true, Phase: journal.StepDone}
		if s.ID == "clone" {
			i.Did = map[string]any{"name": "copy", "class": "db.r6g.large"}
		}
		st.Items = append(st.Items, i)
	}
	if i, how := journal.Assessments(nil).Irrevocable(st); i != nil || len(st.Items) != 2 {
		t.Errorf("%+v %s", i, how)
	}
}

// ALTER TABLE is tried again where waiting helps: not what the server refuses for good.
func TestAnAlterTableIsTriedAgainOnlyWhereWaitingHelps(t *testing.T) {
	book, err := Read("mysql/alter-table", shipped())
	if err != nil {
		t.Fatal(err)
	}
	for class, again := range map[engine.Class]bool{engine.LockTimeout: true, engine.Deadlock: true, engine.Unavailable: true, engine.Other: false, engine.Missing: false, engine.Denied: false, engine.Duplicate: false} {
		env := map[string]any{"error": map[string]any{"text": "", "class": string(class)}}
		if got, err := book.Truth(book.Steps[0].Retry.If, env); err != nil || got != again {
			t.Errorf("%s: tried again %v, %v", class, got, err)
		}
	}
}
