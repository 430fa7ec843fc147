package online

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/internal/poll"
)

// tableChange is the server and the machine that one change is made on.
type tableChange struct {
	*alter
	on      *cluster.Cluster
	primary cluster.Node
	product engine.Facts
	db      string
	name    string
	names   names
	folder  string // of the tool's log and account, on the machine where Plimsoll runs

	value string // what the check answers
	done  bool
	left  leftovers
}

// change finds the primary and what is called how, and asks nothing of the table.
func (a *alter) change(ctx context.Context, on *cluster.Cluster) (*tableChange, error) {
	primary, err := on.Primary(ctx)
	if err != nil {
		return nil, err
	}
	t, _ := a.table()
	home, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find a folder for the tool's log: %w", err)
	}
	n := namesOf(t.Name)
	return &tableChange{
		alter: a, on: on, primary: primary, db: t.Database, name: t.Name, names: n,
		folder: filepath.Join(home, "plimsoll", "online", n.place(on.Name, t.Database)),
	}, nil
}

// look asks the server for all that a check tells.
func (a *alter) look(ctx context.Context, on *cluster.Cluster) (*tableChange, error) {
	w, err := a.change(ctx, on)
	if err != nil {
		return nil, err
	}
	db, err := on.Database(ctx, w.primary.Name)
	if err != nil {
		return nil, err
	}
	if w.product, err = db.Facts(ctx); err != nil {
		return nil, fmt.Errorf("read the server's identity: %w", err)
	}
	there, err := w.ask(ctx, "SELECT COUNT(*) FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema = "+
		admin.Text(w.db)+" AND table_name = "+admin.Text(w.name))
	if err != nil {
		return nil, fmt.Errorf("look for table %s: %w", a.Table, err)
	}
	if there != "1" {
		return nil, action.AbsentTable(a.Table, &engine.Error{Kind: engine.Missing, Text: "views cannot be changed"})
	}
	if w.value, err = w.ask(ctx, a.Query); err != nil {
		return nil, fmt.Errorf("check whether the change is made: %w", err)
	}
	w.done = w.value == a.Want
	w.left, err = w.leftovers(ctx)
	return w, err
}

func (w *tableChange) ask(ctx context.Context, query string) (string, error) {
	return w.on.Value(ctx, w.primary.Name, query)
}

// blocked says what keeps anybody from beginning, and what to do about it; empty: nothing.
func (w *tableChange) blocked(ctx context.Context) (reason, advice string) {
	running, err := w.running(ctx)
	remove := fmt.Sprintf("when no tool is working on the table any more, execute %s on %s", strings.Join(w.left.remove, "; "), w.primary.Name)
	switch {
	case err != nil:
		return fmt.Sprintf("Plimsoll cannot tell whether a tool of an earlier run is still working on the table: %v", err), "find out whether one is, and end it"
	case len(running) > 0:
		return fmt.Sprintf("a tool of an earlier run is still working on the table: process %d", running[0].ID()), fmt.Sprintf("wait until it has ended, or end it on the machine where Plimsoll runs, in a shell: kill %d", running[0].ID())
	case len(w.left.elsewhere) > 0:
		return fmt.Sprintf("Plimsoll on another machine, or of another user, began to change the table, and its tool may still be running: %s", strings.Join(w.left.elsewhere, ", ")), remove
	case len(w.left.foreign) > 0:
		return fmt.Sprintf("another tool is changing the table, or left an unfinished change: %s", strings.Join(w.left.foreign, ", ")), remove
	case len(w.left.old) > 0 && !w.done:
		return fmt.Sprintf("%s contains the table as it was before, but the check says that the change was not made", strings.Join(w.left.old, ", ")),
			fmt.Sprintf("compare it with %s, and drop the one that is not needed", w.Table)
	}
	return "", ""
}

// await waits until neither a tool nor a statement of one works on the table.
func (w *tableChange) await(ctx context.Context, tell func(float64, string)) error {
	if err := w.follow(ctx, tell, " of an earlier attempt"); err != nil {
		return fmt.Errorf("wait for the tool of an earlier attempt: %w", err)
	}
	return w.settle(ctx)
}

// quiet is how long no statement may name the copy until it is believed that there is none: what a dead tool had sent has arrived by then.
const quiet = 500 * time.Millisecond

// settle waits for the statements of a tool that has ended, which the server goes on with by itself: a trigger that it made later would
// break every write to the table.
func (w *tableChange) settle(ctx context.Context) error {
	like := admin.Text("%" + admin.Pattern(w.names.base) + "%")
	silent := time.Now()
	return poll.Until(ctx, 100*time.Millisecond, func() (string, error) {
		n, err := w.ask(ctx, "SELECT COUNT(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND info LIKE "+like)
		if err != nil {
			return "", fmt.Errorf("look for statements of the tool: %w", err)
		}
		if n != "0" {
			silent = time.Now()
		}
		if time.Since(silent) > quiet {
			return "", nil
		}
		return "the server is still executing a statement of the tool", nil
	})
}
