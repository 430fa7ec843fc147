package mysql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"plimsoll/action"
	"plimsoll/action/mysql/replication"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/engine/secret"
	"plimsoll/hint"
)

var setVariable = action.Action{
	Name: "mysql.set-variable", Version: 1,
	About: "Sets a global variable, for the running server, for the next start, or both, and reads it back. A change that weakens durability needs an approval.",
	New:   func() action.Task { return &variable{Persist: persistNo} },
}

// variable is one global variable of one server.
type variable struct {
	Node    string  `yaml:"node" doc:"The node. Default: the primary."`
	Name    string  `yaml:"name,required" doc:"The variable's name."`
	Value   string  `yaml:"value,required" doc:"The value. 512M and 536870912, on and 1 are the same."`
	Persist persist `yaml:"persist" doc:"no: until the next restart. also: now and after a restart. only: after a restart, for variables that are not dynamic; follow with server.restart. Works on MySQL 8 and later where persisted_globals_load is ON, and on any server that Plimsoll starts, as in a lab; other servers keep settings only in their option files. Default no."`
}

type persist string

const (
	persistNo   persist = "no"
	persistAlso persist = "also"
	persistOnly persist = "only"
)

var (
	_ action.Undoer           = (*variable)(nil)
	_ action.ApprovalDemander = (*variable)(nil)
	_ action.Validator        = (*variable)(nil)
	_ action.SettingsChanger  = (*variable)(nil)
	_ action.Cautioned        = (*variable)(nil)
)

// Settings are the variable and its value.
func (v *variable) Settings() map[string]string { return map[string]string{v.Name: v.Value} }

// now and later tell when the value is to hold.
func (v *variable) now() bool   { return v.Persist != persistOnly }
func (v *variable) later() bool { return v.Persist == persistAlso || v.Persist == persistOnly }

func (v *variable) Validate() error {
	switch v.Persist {
	case persistNo, persistAlso, persistOnly:
	default:
		return fmt.Errorf("persist %q, expected no, also or only", v.Persist)
	}
	if strings.ContainsAny(v.Name, "`'\"\\; \n\t") || v.Name == "" {
		return fmt.Errorf("%q is not a name of a variable", v.Name)
	}
	return nil
}

func (v *variable) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// Check compares the value in force, and the one that is kept for after a restart.
func (v *variable) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	node, err := action.CheckedOn(ctx, on, v.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	f, err := v.on(node).check(ctx, on)
	f.NotePrimary(v.Node, node)
	return f, err
}

func (v *variable) check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	if err := v.refuseOneForAll(ctx, on); err != nil {
		return action.CheckResult{}, err
	}
	if err := secret.Refuse(variableName(v.Name), "the given value", v.Value); err != nil {
		return action.CheckResult{}, err
	}
	db, c, err := v.open(ctx, on)
	if err != nil {
		return action.CheckResult{}, err
	}
	f := action.CheckResult{State: action.Satisfied, Observed: action.Facts{}, Intended: action.Facts{}}
	facts, err := db.Facts(ctx)
	if err != nil {
		return f, err
	}
	if n, is := admin.Size(v.Value); is && n == 3 && variableName(v.Name) == "innodb_flush_log_at_trx_commit" && facts.Product != "MariaDB" {
		return f, &hint.PermanentError{Reason: facts.Product + " has no innodb_flush_log_at_trx_commit 3, and would use 2", Advice: "set 1, or 2"}
	}
	shown, err := c.Setting(ctx, v.Name) // there must be such a variable, whenever it is to be changed
	if err != nil {
		return f, err
	}
	if err := secret.Refuse(variableName(v.Name), "the present value", shown); err != nil {
		return f, err
	}
	if f.Reason, err = v.valid(ctx, c); err != nil {
		return f, err
	}
	if v.now() {
		f.Observed["value"], f.Intended["value"] = shown, v.Value
		if !c.SameValue(v.Name, v.Value, shown) {
			f.State = action.Needed
			along, err := v.along(ctx, c)
			if err != nil {
				return f, err
			}
			maps.Copy(f.Observed, along)
			if name := variableName(v.Name); name == "super_read_only" && isOn(v.Value) && along["read_only"] != nil {
				f.Intended["read_only"] = "ON"
			}
			if err := v.changesLive(ctx, on, db, c); err != nil {
				return f, err
			}
			if err := v.mayOpen(ctx, on, action.Call{}, v.Value); err != nil {
				return f, err
			}
		}
	}
	if v.later() {
		k, err := keeperOf(ctx, on, v.Node, facts)
		if err != nil {
			return f, err
		}
		kept, err := k.kept(ctx, variableName(v.Name))
		if err != nil {
			return f, err
		}
		if err := secret.Refuse(variableName(v.Name), "the value for the next start", kept); err != nil {
			return action.CheckResult{}, err
		}
		f.Observed["persisted"], f.Intended["persisted"] = kept, v.Value
		if kept == notKept || !c.SameValue(v.Name, v.Value, kept) {
			f.State = action.Needed
		}
	}
	return f, nil
}

// refuseOneForAll refuses the number by which servers of a cluster are told apart: a replica ignores every change that carries its own.
func (v *variable) refuseOneForAll(ctx context.Context, on *cluster.Cluster) error {
	if variableName(v.Name) != "server_id" {
		return nil
	}
	nodes, err := on.List(ctx)
	if err != nil || len(nodes) < 2 {
		return err
	}
	return &hint.PermanentError{
		Reason: "server_id must differ on all servers of a cluster: a replica ignores every change that carries its own number", Whole: true,
		Advice: "write a number of its own into the option file of each server, then plimsoll runbook run mysql/rolling-restart --cluster " + hint.Quoted(on.Name),
	}
}

// valid refuses, as far as the server tells it beforehand, a value that the variable does not take, and says what the server rounds one to.
func (v *variable) valid(ctx context.Context, c engine.Configurable) (rounded string, err error) {
	why, err := c.WhyInvalid(ctx, v.Name, v.Value)
	if err != nil {
		return "", err
	}
	if why != "" {
		return "", &hint.PermanentError{Reason: why, Advice: "choose another value"}
	}
	becomes, err := c.Becomes(ctx, v.Name, v.Value)
	if err != nil || becomes == "" {
		return "", err
	}
	return engine.Rounded{Setting: variableName(v.Name), Wrote: v.Value, Becomes: becomes}.String(), nil
}

// changesLive refuses, as far as the server tells it beforehand, a variable that takes another value only by a restart.
func (v *variable) changesLive(ctx context.Context, on *cluster.Cluster, db engine.Database, c engine.Configurable) error {
	needs, known, err := c.NeedsRestart(ctx, v.Name)
	if err != nil {
		return err
	}
	if needs && known {
		return v.refuseLive(ctx, on, db, &engine.NeedsRestart{Setting: variableName(v.Name)})
	}
	return nil
}

// notKept is what is shown when nothing is kept for after a restart.
const notKept = "NULL"

func (v *variable) open(ctx context.Context, on *cluster.Cluster) (engine.Database, engine.Configurable, error) {
	db, err := on.Database(ctx, v.Node)
	if err != nil {
		return nil, nil, err
	}
	c, ok := engine.As[engine.Configurable](db)
	if !ok {
		return nil, nil, &hint.PermanentError{Reason: "Plimsoll cannot read the settings of this database"}
	}
	return db, c, nil
}

// keeps tells whether a server writes variables into a file of its own.
func keeps(f engine.Facts) bool {
	major, _, _ := strings.Cut(f.Version, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 8 && (f.Product == "MySQL" || f.Product == "Percona Server")
}

func (v *variable) Act(ctx context.Context, on *cluster.Cluster, c action.Call) (action.Facts, error) {
	node, err := c.ActsOn(ctx, on, v.Node)
	if err != nil {
		return nil, err
	}
	at := v.on(node)
	if err := at.mayOpen(ctx, on, c, v.Value); err != nil {
		return nil, err
	}
	if v.now() {
		if err := setNow(ctx, on, at, c); err != nil {
			return nil, err
		}
	}
	if err := keepToo(ctx, on, at, v.Persist, v.Value); err != nil {
		return nil, err
	}
	return at.shown(ctx, on)
}

// setNow sets the value in force. One with which the server lets Plimsoll in no more, such as require_secure_transport = ON where the connection has no
// TLS, could not be taken back by anybody who comes later: it is put back by the session that is there still.
func setNow(ctx context.Context, on *cluster.Cluster, v *variable, c action.Call) error {
	if err := v.change(ctx, on, v.Value); err != nil {
		return err
	}
	why := letsIn(ctx, on, v.Node)
	before, noted := c.Before[valueFact].(string)
	if why == nil || !noted || ctx.Err() != nil {
		return ctx.Err()
	}
	refusal := &hint.PermanentError{
		Reason: fmt.Sprintf("with %s = %s %s does not serve a new connection of Plimsoll: %v", variableName(v.Name), v.Value, v.Node, why),
		Advice: "change first how Plimsoll connects (docs/inventory.md), or what it may do there, so that it meets this value; others who connect like it would be shut out too",
	}
	if err := v.change(ctx, on, before); err != nil {
		refusal.Reason += fmt.Sprintf("; and it could not be put back to %s: %v", v.told(before), err)
		refusal.Advice = fmt.Sprintf("put it back by hand: SET GLOBAL %s = %s; %s", variableName(v.Name), v.told(before), refusal.Advice)
		return refusal
	}
	refusal.Reason += "; it was put back to " + v.told(before)
	return action.NothingDone{Err: refusal}
}

// letsIn tells why a server does not serve new connections as whoever comes later needs them: several at once, with all rows of what they ask for.
func letsIn(ctx context.Context, on *cluster.Cluster, node string) (err error) {
	n, err := on.Node(ctx, node)
	if err != nil {
		return err
	}
	db, err := engine.OpenWithOwnDefaults(ctx, on.Engine, engine.Alone(on.Engine, n.Target))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for range 3 {
		session, err := db.Session(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = session.Close() }() // it was only to be had
		const rows = "SELECT 1 UNION ALL SELECT 2"
		got := engine.Result{Keep: true}
		if err := session.Exec(ctx, rows, &got); err != nil {
			return err
		}
		if got.Rows != 2 {
			return fmt.Errorf("%s has %d rows there", rows, got.Rows)
		}
	}
	return nil
}

// shown is what the server shows of the variable, as far as the step is about it.
func (v *variable) shown(ctx context.Context, on *cluster.Cluster) (action.Facts, error) {
	db, c, err := v.open(ctx, on)
	if err != nil {
		return nil, err
	}
	out := action.Facts{}
	if v.now() {
		if out["value"], err = c.Setting(ctx, v.Name); err != nil {
			return nil, err
		}
		along, err := v.along(ctx, c)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, along)
	}
	if v.later() {
		k, err := v.keeper(ctx, on, db)
		if err != nil {
			return nil, err
		}
		if out["persisted"], err = k.kept(ctx, variableName(v.Name)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// on is the same variable of a given node.
func (v *variable) on(node string) *variable {
	at := *v
	at.Node = node
	return &at
}

// mayOpen refuses to have a server take writes beside a primary, by whatever name that is asked for.
func (v *variable) mayOpen(ctx context.Context, on *cluster.Cluster, c action.Call, value string) error {
	if variableName(v.Name) != "read_only" || value == notKept {
		return nil
	}
	switch strings.ToUpper(value) {
	case "0", "OFF", "FALSE", "NO":
		n, err := on.Node(ctx, v.Node)
		if err != nil {
			return err
		}
		return replication.MayTakeWrites(ctx, on, n.Name, c)
	}
	return nil
}

func (v *variable) set(ctx context.Context, on *cluster.Cluster, p persist, value string) error {
	if p != persistOnly {
		if err := v.change(ctx, on, value); err != nil {
			return err
		}
	}
	return keepToo(ctx, on, v, p, value)
}

// change sets the value in force.
func (v *variable) change(ctx context.Context, on *cluster.Cluster, value string) error {
	db, c, err := v.open(ctx, on)
	if err != nil {
		return err
	}
	var restart *engine.NeedsRestart
	if err := c.Change(ctx, v.Name, value); errors.As(err, &restart) {
		return v.refuseLive(ctx, on, db, restart)
	} else if err != nil {
		return err
	}
	return nil
}

// keepToo keeps the value for after a restart, if it is to be.
func keepToo(ctx context.Context, on *cluster.Cluster, v *variable, p persist, value string) error {
	if p == persistNo {
		return nil
	}
	db, c, err := v.open(ctx, on)
	if err != nil {
		return err
	}
	// What the server understood, such as 512M, is kept in its own form.
	if p == persistAlso {
		if value, err = c.Setting(ctx, v.Name); err != nil {
			return err
		}
	}
	k, err := v.keeper(ctx, on, db)
	if err != nil {
		return err
	}
	return k.keep(ctx, variableName(v.Name), value)
}

func (v *variable) keeper(ctx context.Context, on *cluster.Cluster, db engine.Database) (keeper, error) {
	facts, err := db.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return keeperOf(ctx, on, v.Node, facts)
}

// refuseLive says how else a variable is changed that cannot be while the server runs.
func (v *variable) refuseLive(ctx context.Context, on *cluster.Cluster, db engine.Database, needs *engine.NeedsRestart) error {
	restart := "restart the server: plimsoll runbook run mysql/rolling-restart --cluster " + hint.Quoted(on.Name)
	advice := "set it with persist: only, then " + restart
	if _, err := v.keeper(ctx, on, db); err != nil {
		advice = "write it into the server's option file, then " + restart
	}
	return &hint.PermanentError{Reason: needs.Error(), Advice: advice}
}
