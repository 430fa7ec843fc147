package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/runbook/action"
	"plimsoll/runbook/action/mysql/statement"
)

var setVariable = action.Action{
	Name: "mysql.set-variable", Version: 1,
	About: "Sets a global variable, now, for after a restart, or both, and reads it back. One that weakens durability needs an approval.",
	New:   func() action.Task { return &variable{Persist: persistNo} },
}

// variable is one global variable of one server.
type variable struct {
	Node    string  `yaml:"node" doc:"On which node. Default: the first, the primary."`
	Name    string  `yaml:"name,required" doc:"As the server calls it."`
	Value   string  `yaml:"value,required" doc:"512M and 536870912, on and 1 are the same."`
	Persist persist `yaml:"persist" doc:"no: until the next restart. also: now and after it. only: after it, for what cannot be changed while the server runs; follow with server.restart. MySQL 8 and later; MariaDB keeps settings in its files alone. Default no."`
}

type persist string

const (
	persistNo   persist = "no"
	persistAlso persist = "also"
	persistOnly persist = "only"
)

var (
	_ action.Undoer    = (*variable)(nil)
	_ action.Cautious  = (*variable)(nil)
	_ action.Validator = (*variable)(nil)
)

func (v *variable) Validate() error {
	switch v.Persist {
	case persistNo, persistAlso, persistOnly:
	default:
		return fmt.Errorf("persist %q, expected no, also or only", v.Persist)
	}
	if strings.ContainsAny(v.Name, "`'\"\\; \n\t") || v.Name == "" {
		return fmt.Errorf("%q is no name of a variable", v.Name)
	}
	return nil
}

func (v *variable) Nature() action.Nature {
	return action.Nature{Effect: action.Reversible, Repeatable: true}
}

// Check compares the value in force, and the one that is kept for after a restart.
func (v *variable) Check(ctx context.Context, on *action.Site) (action.Finding, error) {
	db, c, err := v.open(ctx, on)
	if err != nil {
		return action.Finding{}, err
	}
	f := action.Finding{State: action.Satisfied, Observed: action.Facts{}, Intended: action.Facts{}}
	if v.Persist != persistOnly {
		shown, err := c.Setting(ctx, v.Name)
		if err != nil {
			return f, err
		}
		f.Observed["value"], f.Intended["value"] = shown, v.Value
		if !c.SameValue(v.Name, v.Value, shown) {
			f.State = action.Needed
		}
	}
	if v.Persist != persistNo {
		kept, err := v.kept(ctx, on, db)
		if err != nil {
			return f, err
		}
		f.Observed["persisted"], f.Intended["persisted"] = kept, v.Value
		if kept == notKept || !c.SameValue(v.Name, v.Value, kept) {
			f.State = action.Needed
		}
	}
	return f, nil
}

// notKept is what is shown when nothing is kept for after a restart.
const notKept = "NULL"

func (v *variable) open(ctx context.Context, on *action.Site) (engine.Database, engine.Configurable, error) {
	db, err := on.Database(ctx, v.Node)
	if err != nil {
		return nil, nil, err
	}
	c, ok := db.(engine.Configurable)
	if !ok {
		return nil, nil, &action.Refusal{Reason: "the settings of this database cannot be read"}
	}
	return db, c, nil
}

// kept is the value for after a restart.
func (v *variable) kept(ctx context.Context, on *action.Site, db engine.Database) (string, error) {
	facts, err := db.Facts(ctx)
	if err != nil {
		return "", err
	}
	if facts.Product != "MySQL" {
		return "", &action.Refusal{
			Reason: fmt.Sprintf("%s %s cannot keep a variable for after a restart: it has no SET PERSIST", facts.Product, facts.Version),
			Advice: "write it into the server's option file, and set it with persist: no for now",
		}
	}
	return on.Value(ctx, v.Node, "SELECT variable_value FROM performance_schema.persisted_variables WHERE variable_name = "+statement.Text(v.Name))
}

func (v *variable) Act(ctx context.Context, on *action.Site, _ action.Call) (action.Facts, error) {
	return nil, v.set(ctx, on, v.Persist, v.Value)
}

func (v *variable) set(ctx context.Context, on *action.Site, p persist, value string) error {
	_, c, err := v.open(ctx, on)
	if err != nil {
		return err
	}
	if p != persistOnly {
		var restart *engine.NeedsRestart
		if err := c.Change(ctx, v.Name, value); errors.As(err, &restart) {
			return &action.Refusal{Reason: restart.Error(), Advice: "persist: only, then server.restart"}
		} else if err != nil {
			return err
		}
	}
	if p == persistNo {
		return nil
	}
	// What the server understood, such as 512M, is kept in its own form.
	if p == persistAlso {
		if value, err = c.Setting(ctx, v.Name); err != nil {
			return err
		}
	}
	return on.Execute(ctx, v.Node, []string{"SET PERSIST_ONLY `" + v.Name + "` = " + number(value)}, func(int) {})
}

// Undo puts back what the first check saw.
func (v *variable) Undo(ctx context.Context, on *action.Site, c action.Call) error {
	if before, ok := c.Before["value"].(string); ok {
		if err := v.set(ctx, on, persistNo, before); err != nil {
			return err
		}
	}
	before, ok := c.Before["persisted"].(string)
	switch {
	case !ok:
		return nil
	case before == notKept:
		return on.Execute(ctx, v.Node, []string{"RESET PERSIST IF EXISTS `" + v.Name + "`"}, func(int) {})
	}
	return v.set(ctx, on, persistOnly, before)
}

// number writes a number bare and any other value quoted; 512M becomes bytes, as in option files.
func number(s string) string {
	text, factor := s, int64(1)
	if n := len(s); n > 1 {
		if shift := strings.IndexByte("KMGT", s[n-1]&^0x20); shift >= 0 {
			text, factor = s[:n-1], int64(1)<<(10*(shift+1))
		}
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(i*factor, 10)
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return statement.Text(s)
}
