package kube_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra/kube"
)

// What somebody else has asked for since stays: an undo puts back what it changed itself, and nothing else.
func TestAnUndoLeavesWhatOthersHaveAskedForSince(t *testing.T) {
	for name, c := range map[string]struct {
		with, path string
		others     any
		want       string
		remains    bool // and the undo of the steps before it goes on
	}{
		"kube.scale":         {"members: 4", "spec.replicas", 6, "the number of members of MariaDB db/shop: it is 6 now, and the undo left it so", true},
		"kube.set-parameter": {`{name: max_connections, value: "300"}`, "spec.myCnf", "[mariadb]\nmax_connections=700\n", "max_connections of MariaDB db/shop: it is 700 now, and the undo left it so", true},
		"kube.switchover":    {"pod: shop-2", "spec.replication.primary.podIndex", 1, "the primary of MariaDB db/shop: it is shop-1 now", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newMariaDB(t)
			task := w.task(t, name, c.with)
			found, err := task.Check(t.Context(), w.on.ReadOnly())
			if err != nil {
				t.Fatal(err)
			}
			if err := w.act(t, task); err != nil {
				t.Fatal(err)
			}
			w.set(c.path, c.others)
			written := len(w.Writes())
			ours := call("token")
			ours.Before = found.Observed
			undo := func(before action.Facts, want string, remains bool) {
				t.Helper()
				ours.Before = before
				limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var refused *hint.PermanentError
				err := task.(action.Undoer).Undo(limited, w.on, ours)
				if err == nil || (action.RemainsOf(err) != nil) != remains || errors.As(err, &refused) == remains || !strings.Contains(err.Error(), want) {
					t.Errorf("undo: %v, want %q", err, want)
				}
				if len(w.Writes()) != written {
					t.Errorf("written: %v", w.Writes()[written:])
				}
			}
			undo(found.Observed, c.want, c.remains)
			another := action.Facts{}
			for k, v := range found.Observed {
				another[k] = v
			}
			another["uid"] = "of one that was deleted"
			undo(another, "was deleted and created anew since", false)
		})
	}
}

// Who was suspended and lost the cluster writes nothing when he wakes, in whatever loop he is.
func TestNothingIsWrittenToAnObjectThatIsAnothersNow(t *testing.T) {
	w := newMariaDB(t)
	lost := errors.New("another run has the cluster")
	limited, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	ctx := cluster.WithOwner(limited, func(context.Context) error { return lost })
	if _, err := w.task(t, "kube.scale", "members: 4").Act(ctx, w.on, call("token")); !errors.Is(err, lost) {
		t.Errorf("act: %v, want that the cluster is lost", err)
	}
	if n, _ := w.Object(mariadbs.Kind, "shop").Int(kube.At("spec.replicas")); n != 3 {
		t.Errorf("the object has %d members", n)
	}
}
