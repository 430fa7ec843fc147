package cql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"plimsoll/engine"
)

var _ engine.Authorizing = (*database)(nil)

// resource is what a permission is granted on. LIST PERMISSIONS writes it as <keyspace shop>, GRANT as KEYSPACE "shop".
type resource struct{ keyspace, table string }

var everyKeyspace resource

// listed is how LIST PERMISSIONS writes it.
func (r resource) listed() string {
	switch {
	case r.keyspace == "":
		return "<all keyspaces>"
	case r.table == "":
		return "<keyspace " + r.keyspace + ">"
	}
	return "<table " + r.keyspace + "." + r.table + ">"
}

// words are those of a statement.
func (r resource) words() string {
	switch {
	case r.keyspace == "":
		return "ALL KEYSPACES"
	case r.table == "":
		return "KEYSPACE " + quoteName(r.keyspace)
	}
	return "TABLE " + r.keyspace + "." + r.table // of system_views alone, whose names need no quotes
}

// permission is what a role may do with a resource.
type permission struct {
	name string
	on   resource
}

// listed is a permission as LIST PERMISSIONS writes it.
type listed struct{ name, on string }

// Lacks compares what the account's role and the roles that it was granted may do with what is needed. A GRANT gives one permission,
// as releases before 5.0 take no more.
func (d *database) Lacks(ctx context.Context, needs []engine.Need) ([]engine.Lack, error) {
	if len(needs) == 0 || d.target.User == "" { // who does not log in is asked for no permission
		return nil, nil
	}
	var all []engine.Lack
	err := d.control.use(ctx, anyNode, func(s *gocql.Session) error {
		role := quoteName(d.target.User)
		super, err := isSuperuser(ctx, s, role)
		if err != nil || super {
			return err
		}
		has, err := permissionsOf(ctx, s, role)
		if err != nil {
			return err
		}
		there, err := tablesOf(ctx, s)
		if err != nil {
			return err
		}
		all = lacking(role, has, there, needs)
		return nil
	})
	if code := engine.CodeOf(err); code == unsupported || code == invalid {
		return nil, nil // its authorizer keeps no permissions: AllowAllAuthorizer
	}
	if err != nil {
		return nil, fmt.Errorf("read the permissions of role %s: %w", d.target.User, err)
	}
	return all, nil
}

// How servers answer a question about permissions that they do not keep: Cassandra as an error of the server, ScyllaDB as one of the
// statement.
var (
	unsupported = fmt.Sprintf("0x%04X", gocql.ErrCodeServer)
	invalid     = fmt.Sprintf("0x%04X", gocql.ErrCodeInvalid)
)

// isSuperuser tells whether a role, or one that it was granted, is that of a superuser, whom nothing is refused.
func isSuperuser(ctx context.Context, s *gocql.Session, role string) (bool, error) {
	rows := s.Query("LIST ROLES OF " + role).IterContext(ctx)
	super := false
	for row := map[string]any{}; rows.MapScan(row); row = map[string]any{} {
		is, _ := row["super"].(bool)
		super = super || is
	}
	return super, rows.Close()
}

// permissionsOf lists those of a role and of the roles that it was granted.
func permissionsOf(ctx context.Context, s *gocql.Session, role string) ([]listed, error) {
	rows := s.Query("LIST ALL PERMISSIONS OF " + role).IterContext(ctx)
	var all []listed
	for row := map[string]any{}; rows.MapScan(row); row = map[string]any{} {
		name, _ := row["permission"].(string)
		on, _ := row["resource"].(string)
		all = append(all, listed{name, on})
	}
	return all, rows.Close()
}

// tablesOf lists the tables of every keyspace that there is, those of the virtual ones too.
func tablesOf(ctx context.Context, s *gocql.Session) (map[string][]string, error) {
	all := map[string][]string{}
	for _, schema := range []string{"system_schema", "system_virtual_schema"} {
		keyspaces := s.Query("SELECT keyspace_name FROM " + schema + ".keyspaces").IterContext(ctx)
		var name, table string
		for keyspaces.Scan(&name) {
			all[name] = nil
		}
		if err := keyspaces.Close(); err != nil {
			return nil, err
		}
		tables := s.Query("SELECT keyspace_name, table_name FROM " + schema + ".tables").IterContext(ctx)
		for tables.Scan(&name, &table) {
			all[name] = append(all[name], table)
		}
		if err := tables.Close(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// claimKeyspace is where runs keep their claims.
const claimKeyspace, claimTable = "plimsoll", "claim"

// views are the tables in which a node shows its state, as far as Plimsoll reads them. Each is granted by itself: GRANT takes no virtual
// keyspace, and what is granted on all keyspaces does not hold for those of the system.
var views = []string{"caches", "disk_usage", "gossip_info", "pending_hints", "repair_jobs", "repair_sessions", "repairs", "settings", "sstable_tasks",
	"streaming", "system_properties", "thread_pools"}

const viewsKeyspace = "system_views"

// permissionsFor is what a right takes. Who makes a keyspace may do everything in it.
func permissionsFor(n engine.Need, there map[string][]string) []permission {
	in := func(keyspace string, names ...string) []permission {
		if _, is := there[keyspace]; !is { // nothing can be granted on what is not there
			return []permission{{"CREATE", everyKeyspace}}
		}
		var all []permission
		for _, name := range names {
			all = append(all, permission{name, resource{keyspace: keyspace}})
		}
		return all
	}
	switch n.Right {
	case engine.ReadTables:
		return in(n.Of, "SELECT")
	case engine.WriteTables:
		return in(n.Of, "SELECT", "MODIFY")
	case engine.MakeTables:
		return in(n.Of, "CREATE", "DROP", "SELECT", "MODIFY")
	case engine.AlterTables:
		return in(n.Of, "ALTER")
	case engine.SeeNodes:
		var all []permission
		for _, table := range views {
			if slices.Contains(there[viewsKeyspace], table) { // earlier releases have fewer
				all = append(all, permission{"SELECT", resource{viewsKeyspace, table}})
			}
		}
		return all
	case engine.KeepClaim:
		if slices.Contains(there[claimKeyspace], claimTable) {
			return in(claimKeyspace, "SELECT", "MODIFY")
		}
		return in(claimKeyspace, "CREATE")
	}
	return nil
}

// lacking names what is missing, by the keyspace that it is missing in.
func lacking(role string, has []listed, there map[string][]string, needs []engine.Need) []engine.Lack {
	var all []engine.Lack
	places := map[string]int{} // by keyspace
	for _, need := range needs {
		for _, p := range permissionsFor(need, there) {
			if slices.Contains(has, listed{p.name, p.on.listed()}) || p.on.table == "" && slices.Contains(has, listed{p.name, everyKeyspace.listed()}) {
				continue
			}
			at, is := places[p.on.keyspace]
			if !is {
				at = len(all)
				places[p.on.keyspace], all = at, append(all, engine.Lack{Account: role})
			}
			add(&all[at], role, p, need.For)
		}
	}
	return all
}

// add adds a permission to what a role lacks in a keyspace.
func add(l *engine.Lack, role string, p permission, why string) {
	if !slices.Contains(l.Privileges, p.name) {
		l.Privileges = append(l.Privileges, p.name)
	}
	grant := "GRANT " + p.name + " ON " + p.on.words() + " TO " + role
	switch {
	case l.Grant == "":
		l.Where, l.Grant = p.on.words(), grant
	case !slices.Contains(strings.Split(l.Grant, "; "), grant):
		l.Grant += "; " + grant
		if p.on.table != "" {
			l.Where += ", " + p.on.table
		}
	}
	if why != "" && !slices.Contains(l.For, why) {
		l.For = append(l.For, why)
	}
}
