package online

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// leftovers are what stands beside a table because a tool works on it or did not end well.
type leftovers struct {
	triggers  []string // ours, on the table or on the old one
	tables    []string // ours: the copy, and what a tool keeps beside it
	old       []string // the table as it was before, when its copy is in its place already
	elsewhere []string // tables that a Plimsoll on another machine made
	foreign   []string // of a tool that no Plimsoll began
	remove    []string // the statements that remove those of others
}

func (l leftovers) all() []string {
	return slices.Concat(l.triggers, l.tables, l.old, l.elsewhere, l.foreign)
}

func (l leftovers) empty() bool { return len(l.all()) == 0 }

// leftovers looks for tables by their names, and for triggers by the table that they write to.
func (w *tableChange) leftovers(ctx context.Context) (l leftovers, err error) {
	like := func(name string) string { return strings.ReplaceAll(name, "_", `\_`) }
	tables, err := w.on.Column(ctx, w.primary.Name, "SELECT table_name FROM information_schema.tables WHERE table_schema = "+admin.Text(w.db)+
		" AND (table_name LIKE "+admin.Text(like("_"+ours)+"%")+" OR table_name IN ("+admin.Text("_"+w.name+"_gho")+", "+admin.Text("_"+w.name+"_ghc")+")) ORDER BY 1")
	if err != nil {
		return l, fmt.Errorf("look for tables that a tool left: %w", err)
	}
	for _, t := range tables {
		switch {
		case slices.Contains(w.names.copies(), t):
			l.tables = append(l.tables, t)
		case w.names.elsewhere(t, w.name):
			l.elsewhere, l.remove = append(l.elsewhere, t), append(l.remove, "DROP TABLE "+quoted(w.db, t))
		case !strings.HasPrefix(t, "_"+ours):
			l.foreign, l.remove = append(l.foreign, t), append(l.remove, "DROP TABLE "+quoted(w.db, t))
		}
	}
	return l, w.triggers(ctx, &l)
}

func (w *tableChange) triggers(ctx context.Context, l *leftovers) error {
	for _, look := range []struct {
		where string
		found func(name, table string)
	}{
		{"LOCATE(" + admin.Text(quoted(w.names.copies()[0])) + ", action_statement) > 0", func(name, table string) {
			l.triggers = append(l.triggers, name)
			if table != w.name && !slices.Contains(l.old, table) {
				l.old = append(l.old, table)
			}
		}},
		{`trigger_name LIKE 'pt\_osc\_%' AND event_object_table = ` + admin.Text(w.name) + " AND LOCATE(" + admin.Text("_"+ours+machine()) + ", action_statement) = 0",
			func(name, _ string) { // it goes before the table that it writes to
				l.foreign, l.remove = append(l.foreign, name), append([]string{"DROP TRIGGER " + quoted(w.db, name)}, l.remove...)
			}},
	} {
		r := engine.Result{Keep: true}
		err := w.on.Use(ctx, w.primary.Name, func(s engine.Session) error {
			return s.Exec(ctx, "SELECT trigger_name, event_object_table FROM information_schema.triggers WHERE trigger_schema = "+admin.Text(w.db)+" AND "+look.where+" ORDER BY 1", &r)
		})
		if err != nil {
			return fmt.Errorf("look for triggers that a tool left: %w", err)
		}
		for row := range r.Rows {
			look.found(string(r.At(row, 0).Data), string(r.At(row, 1).Data))
		}
	}
	return nil
}

// clean removes what is left, once nothing works on the table any more: the triggers first, which write to the copy. It waits for no
// lock longer than the patience that was asked for.
func (w *tableChange) clean(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, w.forget(ctx)) }()
	if err := w.settle(ctx); err != nil {
		return err
	}
	if w.left, err = w.leftovers(ctx); err != nil || w.left.empty() {
		return err
	}
	texts := []string{fmt.Sprintf("SET SESSION lock_wait_timeout = %d", w.Patience)}
	for _, t := range w.left.triggers {
		texts = append(texts, "DROP TRIGGER IF EXISTS "+quoted(w.db, t))
	}
	for _, t := range slices.Concat(w.left.tables, w.left.old) {
		texts = append(texts, "DROP TABLE IF EXISTS "+quoted(w.db, t))
	}
	if err := w.on.Execute(ctx, w.primary.Name, texts, func(int) {}); err != nil {
		return fmt.Errorf("remove what the tool left behind: %w", err)
	}
	return nil
}
