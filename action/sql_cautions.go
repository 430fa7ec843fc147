package action

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/internal/document"
)

// Caution is what to know before a task acts, though it may act.
type Caution struct {
	Text  string
	Table Table // that is missing; the zero Table: it is not about one
}

// Cautioned is a task that may have cautions. A plan asks for them when the check finds that the task is needed.
type Cautioned interface {
	Cautions(ctx context.Context, on *cluster.Cluster) []Caution
}

// TableMaker is a task of which is known which tables it makes.
type TableMaker interface {
	// Makes lists them; known is false where it may make others.
	Makes() (all []Table, known bool)
}

var (
	_ Cautioned  = (*execute)(nil)
	_ TableMaker = (*execute)(nil)
)

// Cautions are the tables that the statements need and that are not there, and a replica that alone would be written to. Nothing is said where it
// cannot be told plainly.
func (e *execute) Cautions(ctx context.Context, on *cluster.Cluster) []Caution {
	node, err := CheckedOn(ctx, on, e.Node)
	if err != nil {
		return nil
	}
	var all []Caution
	for _, t := range e.needed() {
		if slices.Contains(e.Tables, t.String()) {
			continue // the check has found it
		}
		_, err := on.Column(ctx, node, "SELECT * FROM "+t.String()+" LIMIT 1")
		if engine.ClassOf(err) == engine.Missing {
			all = append(all, Caution{fmt.Sprintf("table %s does not exist on %s%s: the step fails unless an earlier step creates it", t, node, meantTable(ctx, on, node, t)), t})
		}
	}
	return append(all, e.writesToReplica(ctx, on, node)...)
}

// meantTable is which table of the same database may be meant, in parentheses; "" if none is like it, or the server does not list them.
func meantTable(ctx context.Context, on *cluster.Cluster, node string, t Table) string {
	if t.Database == "" {
		return ""
	}
	names, err := on.Column(ctx, node, "SHOW TABLES FROM "+t.Database)
	if err != nil {
		return ""
	}
	near := document.Nearest(t.Name, names)
	if near == "" || document.NumberApart(near, t.Name) {
		return ""
	}
	return " (did you mean " + Table{t.Database, near}.String() + "?)"
}

// writesToReplica warns of a replica whose tables would differ from those of its primary.
func (e *execute) writesToReplica(ctx context.Context, on *cluster.Cluster, node string) []Caution {
	all, _ := tablesOf(e.Statements)
	if e.Node == "" || len(all) == 0 || slices.ContainsFunc(e.Statements, func(text string) bool { return strings.Contains(strings.ToLower(text), "sql_log_bin") }) {
		return nil
	}
	primary, err := on.Primary(ctx)
	if err != nil || primary.Name == node || !on.Leads(ctx, primary.Name) {
		return nil
	}
	return []Caution{{Text: fmt.Sprintf("%s is a replica, and %s the primary: what is written to %s alone makes it differ from the others, and is refused while it is read-only", node, primary.Name, node)}}
}

// needed are the tables that must be there, in the order of the statements, without those that they make themselves.
func (e *execute) needed() []Table {
	all, _ := tablesOf(e.Statements)
	var out []Table
	for _, t := range all {
		if t.needed && !slices.Contains(out, t.Table) {
			out = append(out, t.Table)
		}
	}
	return out
}

// Makes implements TableMaker.
func (e *execute) Makes() (all []Table, known bool) {
	named, known := tablesOf(e.Statements)
	for _, t := range named {
		if t.made {
			all = append(all, t.Table)
		}
	}
	return all, known
}

// namedTable is a table as statements name it.
type namedTable struct {
	Table
	needed bool // it must be there
	made   bool
}

// plainName is a name that stands in a statement without quotes.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_$]+$`)

// tablesOf are the tables that plain statements name: ALTER TABLE, CREATE and DROP INDEX, UPDATE, DELETE, INSERT, REPLACE, TRUNCATE, and CREATE
// TABLE, which makes one. known is false where a statement may make a table that it does not tell, such as a CALL; those after it need none.
func tablesOf(statements []string) (all []namedTable, known bool) {
	known = true
	var database string
	made := map[Table]bool{}
	for _, text := range statements {
		words := sqlWords(text, 1000)
		if len(words) == 0 {
			continue
		}
		if is(words[0], "USE") && len(words) > 1 {
			database = words[1]
			continue
		}
		t, makes, plain := namedBy(words)
		switch {
		case !plain && !slices.ContainsFunc([]string{"SET", "SELECT", "SHOW", "ANALYZE", "OPTIMIZE", "FLUSH", "GRANT", "REVOKE", "DROP", "KILL", "CHECK"}, func(kind string) bool { return is(words[0], kind) }):
			known = known && slices.ContainsFunc([]string{"UPDATE", "DELETE", "INSERT", "REPLACE"}, func(kind string) bool { return is(words[0], kind) })
			continue
		case !plain:
			continue
		}
		if t.Database == "" {
			t.Database = database
		}
		if strings.ContainsRune(text, '"') || !plainName.MatchString(t.Name) || t.Database != "" && !plainName.MatchString(t.Database) {
			known = known && !makes
			continue
		}
		if makes {
			made[t] = true
		}
		all = append(all, namedTable{Table: t, made: makes, needed: known && !makes && !made[t]})
	}
	return all, known
}

// WithoutDatabase is the first table that plain statements name without a database, where none was chosen by USE before.
func WithoutDatabase(statements []string) (t Table, found bool) {
	all, _ := tablesOf(statements)
	at := slices.IndexFunc(all, func(t namedTable) bool { return t.Database == "" })
	if at < 0 {
		return t, false
	}
	return all[at].Table, true
}

// namedBy is the table that a plain statement changes, or makes.
func namedBy(words []string) (t Table, makes, plain bool) {
	at := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	name := func(i int) (Table, bool) {
		switch {
		case at(i) == "" || at(i) == "(":
			return Table{}, false
		case at(i+1) == "." && at(i+2) != "":
			return Table{at(i), at(i + 2)}, true
		}
		return Table{"", at(i)}, true
	}
	skip := func(i int, keywords ...string) int {
		for slices.ContainsFunc(keywords, func(k string) bool { return is(at(i), k) }) {
			i++
		}
		return i
	}
	modifiers := []string{"LOW_PRIORITY", "HIGH_PRIORITY", "DELAYED", "QUICK", "IGNORE"}
	switch i := skip(1, modifiers...); {
	case is(words[0], "UPDATE"):
		t, plain = name(i)
	case (is(words[0], "INSERT") || is(words[0], "REPLACE")) && is(at(i), "INTO"), is(words[0], "DELETE") && is(at(i), "FROM") && !slices.ContainsFunc(words, func(w string) bool { return is(w, "USING") }):
		t, plain = name(i + 1)
	case is(words[0], "TRUNCATE"):
		t, plain = name(skip(1, "TABLE"))
	case is(words[0], "CREATE") && is(at(skip(1, "TEMPORARY")), "TABLE"):
		t, plain = name(skip(1, "TEMPORARY", "TABLE", "IF", "NOT", "EXISTS"))
		makes = plain
	case is(words[0], "ALTER") && is(at(1), "TABLE") && !is(at(2), "IF") && !slices.ContainsFunc(words, func(w string) bool { return is(w, "RENAME") }):
		t, plain = name(2)
	case is(words[0], "CREATE") || is(words[0], "DROP"):
		if on := slices.IndexFunc(words, func(w string) bool { return is(w, "ON") }); on > 1 && indexed(words[:on]) {
			t, plain = name(on + 1)
		}
	}
	return t, makes, plain
}
