package rds_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
)

// clone makes a clone of shop with an instance, as a Plimsoll that is not there any more did, that is needed for so long from now.
func (w *fixture) clone(t *testing.T, id string, needed time.Duration) {
	t.Helper()
	r, until := w.open(t), time.Now().Add(needed)
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := aws.Await(limited, 2*time.Millisecond, func(string) {}, func(ctx context.Context) (bool, string, error) { // what is left of one before ends meanwhile
		c, err := r.Aurora(ctx, id)
		if errors.Is(err, aws.ErrNotFound) {
			return false, "", r.Clone(ctx, "shop", id, "of-another", until)
		}
		if err != nil {
			return false, "", err
		}
		i, err := r.Instance(ctx, id+"-1")
		if errors.Is(err, aws.ErrNotFound) && c.Status != "deleting" {
			err = r.CreateMember(ctx, id, "aurora-mysql", aws.NewInstance{ID: id + "-1", Class: "db.r6g.large", Tags: aws.CloneTags("shop", id, "of-another", until)})
		}
		return len(c.Members) == 1 && c.Status == "available" && i.Settled(), "its instance", err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestExpiredClonesAreDeletedAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.clone(t, "over", -time.Hour)
	w.clone(t, "needed", time.Hour)
	w.clone(t, "shared", -time.Hour) // somebody has added an instance of their own
	if err := w.open(t).CreateMember(t.Context(), "shared", "aurora-mysql", aws.NewInstance{ID: "theirs", Class: "db.r6g.large"}); err != nil {
		t.Fatal(err)
	}
	w.clone(t, "protected", -time.Hour)
	w.Clusters.Protect("protected")
	w.clone(t, "forever", -time.Hour)
	w.Clusters.Tag("forever", aws.DeleteAfterTag, "")
	w.clone(t, "unmarked", -time.Hour)
	w.Clusters.Tag("unmarked", aws.TokenTag, "")
	w.clone(t, "restored", -time.Hour) // with the tags of another
	w.Clusters.Tag("restored", aws.CloneTag, "over of shop")
	w.Instances.Add(awstest.Instance{ID: "real-1", Engine: "aurora-mysql"}) // has all the tags, and shares pages with nobody
	w.Clusters.Add("real", "aurora-mysql", "real-1")
	for key, value := range aws.CloneTags("shop", "real", "of-another", time.Now().Add(-time.Hour)) {
		w.Clusters.Tag("real", key, value)
		w.Clusters.Tag("shop", key, value) // and the source, by somebody's mistake
	}

	task := w.bind(t, "aurora.delete-expired-clones", "{}")
	f, err := task.Check(t.Context(), w.on)
	if expired, _ := f.Observed["expired"].(string); err != nil || f.State != action.Needed || !strings.HasPrefix(expired, "over of shop, needed until ") || strings.Count(expired, ";") != 2 {
		t.Fatalf("%+v, %v", f, err)
	}
	w.Fail("DeleteDBCluster", awstest.Throttled, awstest.Lost)
	out, err := task.Act(t.Context(), w.on, action.Call{Token: "mine", Progress: func(float64, string) {}})
	if err == nil {
		err = task.(action.Verifier).Verify(t.Context(), w.on, out)
	}
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := out[action.LeftOut].(map[string]any); len(left) != 2 || !strings.Contains(fmt.Sprint(left["shared"]), "an instance theirs that was not created with it") ||
		!strings.Contains(fmt.Sprint(left["protected"]), "has deletion protection") {
		t.Errorf("left out: %v", left)
	}
	var kept []string
	for _, id := range []string{"shop", "real", "over", "needed", "shared", "protected", "forever", "unmarked", "restored"} {
		if w.Clusters.Has(id) {
			kept = append(kept, id)
		}
	}
	if want := []string{"shop", "real", "needed", "shared", "protected", "forever", "unmarked", "restored"}; !slices.Equal(kept, want) {
		t.Errorf("kept %v, want %v", kept, want)
	}
	for id, there := range map[string]bool{"over-1": false, "needed-1": true, "shared-1": true, "protected-1": true, "theirs": true, "real-1": true, "orders": true} {
		if _, is := w.Instances.Shown(id); is != there {
			t.Errorf("instance %s is there: %v", id, is)
		}
	}
}

// One by its name is refused as well, and by the undo of what made it, and before anything of it is deleted.
func TestACloneThatSomebodyUsesIsNotDeletedByHalf(t *testing.T) {
	t.Parallel()
	w := newFixture(t, engine.Target{}, nil)
	w.clone(t, "copy", time.Hour)
	if err := w.open(t).CreateMember(t.Context(), "copy", "aurora-mysql", aws.NewInstance{ID: "theirs", Class: "db.r6g.large"}); err != nil {
		t.Fatal(err)
	}
	call := action.Call{Token: "of-another", Progress: func(float64, string) {}}
	_, deleted := w.bind(t, "aurora.delete-clone", "{name: copy}").Act(t.Context(), w.on, call)
	undone := w.bind(t, "aurora.clone", "{name: copy, class: db.r6g.large}").(action.Undoer).Undo(t.Context(), w.on, call)
	for what, err := range map[string]error{"deleted": deleted, "undone": undone} {
		var refusal *hint.PermanentError
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "an instance theirs that was not created with it") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, there := w.Instances.Shown("copy-1"); !there {
		t.Error("its own instance was deleted")
	}
}
