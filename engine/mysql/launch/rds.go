package launch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/infra"
)

// RDS runs MySQL servers of a lab dressed as Amazon RDS for MySQL: who administers them has the privileges that RDS gives, and no more,
// and the procedures mysql.rds_* for what those do not let through. The servers themselves are MySQL's own. What RDS does by its API
// (classes, volumes, parameter groups) a lab has not, and it is not RDS: names, parameters and privileges are those of AWS's
// documentation (docs.aws.amazon.com/AmazonRDS/latest/UserGuide: Appendix.MySQL.SQLRef.html, UsingWithRDS.MasterAccounts.html).
//
// The lab itself logs in by Owner, as AWS does by its rdsadmin.
type RDS struct{ servers Servers }

var (
	_ engine.Launcher        = RDS{}
	_ engine.Cloner          = RDS{}
	_ engine.Replicator      = RDS{}
	_ engine.SettingsChecker = RDS{}
)

const (
	rdsProduct = "rds-mysql"
	// RDSAdministrator is who administers a server dressed as RDS.
	RDSAdministrator = "admin"
	// Owner is the account of the lab itself, which may do everything. Its password is the administrator's.
	Owner = administrator
)

// asMySQL is a node as Servers knows it.
func asMySQL(n engine.Node) engine.Node {
	n.Dist.Product = mysqlProduct
	return n
}

func allAsMySQL(nodes []engine.Node) []engine.Node {
	var all []engine.Node
	for _, n := range nodes {
		all = append(all, asMySQL(n))
	}
	return all
}

// dressed names what was installed as MySQL.
func dressed(d engine.Distribution, err error) (engine.Distribution, error) {
	if err == nil {
		d.Product = rdsProduct
	}
	return d, err
}

// Releases are those of MySQL.
func (r RDS) Releases() (all []engine.Release) {
	for _, one := range r.servers.Releases() {
		if one.Product == mysqlProduct {
			all = append(all, engine.Release{Product: rdsProduct, Version: one.Version})
		}
	}
	return all
}

// Port is that of MySQL.
func (r RDS) Port() int { return r.servers.Port() }

// Find looks for MySQL.
func (r RDS) Find(ctx context.Context, m infra.Machine, wanted engine.Release, cache string) (engine.Distribution, error) {
	wanted.Product = mysqlProduct
	return dressed(r.servers.Find(ctx, m, wanted, cache))
}

// Fetch gets MySQL.
func (r RDS) Fetch(ctx context.Context, m infra.Machine, wanted engine.Release, cache string, say func(string)) (engine.Distribution, error) {
	wanted.Product = mysqlProduct
	return dressed(r.servers.Fetch(ctx, m, wanted, cache, say))
}

// Needs are those of MySQL.
func (r RDS) Needs(n engine.Node) (engine.Needs, error) { return r.servers.Needs(asMySQL(n)) }

// CheckSettings asks MySQL's own program.
func (r RDS) CheckSettings(ctx context.Context, m infra.Machine, nodes ...engine.Node) ([]engine.Rounded, error) {
	nodes = slices.Clone(nodes)
	for i, n := range nodes {
		nodes[i] = asMySQL(n)
	}
	return r.servers.CheckSettings(ctx, m, nodes...)
}

// Configure adds the administrator and the procedures to what the server runs at every start.
func (r RDS) Configure(ctx context.Context, m infra.Machine, n engine.Node) error {
	if err := r.servers.Configure(ctx, m, asMySQL(n)); err != nil {
		return err
	}
	statements := append([]string{
		admin.CreateUser(RDSAdministrator, n.Password), "GRANT " + strings.Join(rdsGrants, ", ") + " ON *.* TO " + admin.Text(RDSAdministrator) + " WITH GRANT OPTION",
	}, rdsProcedures()...)
	text := append(accounts(asMySQL(n)), "DELIMITER $$\n"+strings.Join(statements, "$$\n")+"$$\nDELIMITER ;\n"...)
	if err := m.WriteFile(ctx, initFile(n), text, 0o600); err != nil {
		return fmt.Errorf("write the init file: %w", err)
	}
	return nil
}

// Init makes MySQL's system tables.
func (r RDS) Init(ctx context.Context, m infra.Machine, n engine.Node) error {
	return r.servers.Init(ctx, m, asMySQL(n))
}

// Template names MySQL's: what makes a server one of RDS comes with its first start.
func (r RDS) Template(n engine.Node) string { return r.servers.Template(asMySQL(n)) }

// Clone copies a stopped server's data folder.
func (r RDS) Clone(ctx context.Context, m infra.Machine, from, to engine.Node) error {
	return r.servers.Clone(ctx, m, asMySQL(from), asMySQL(to))
}

// Command starts MySQL.
func (r RDS) Command(n engine.Node) (infra.Command, error) { return r.servers.Command(asMySQL(n)) }

// Ready tries to log in as the lab itself.
func (r RDS) Ready(ctx context.Context, m infra.Machine, n engine.Node) error {
	return r.servers.Ready(ctx, m, asMySQL(n))
}

// Join makes a node a read replica, as AWS does.
func (r RDS) Join(ctx context.Context, m infra.Machine, n engine.Node, before []engine.Node) error {
	return r.servers.Join(ctx, m, asMySQL(n), allAsMySQL(before))
}

// ReplicationStatus asks a node.
func (r RDS) ReplicationStatus(ctx context.Context, m infra.Machine, n engine.Node) (engine.ReplicationStatus, error) {
	return r.servers.ReplicationStatus(ctx, m, asMySQL(n))
}

// Diagnose reads the end of the node's log.
func (r RDS) Diagnose(ctx context.Context, m infra.Machine, n engine.Node) error {
	return r.servers.Diagnose(ctx, m, asMySQL(n))
}

// Target is the way of RDS's administrator.
func (r RDS) Target(nodes []engine.Node) engine.Target {
	t := r.servers.Target(allAsMySQL(nodes))
	t.User = RDSAdministrator
	return t
}

// AsOwner is a target of servers dressed as RDS by the account of the lab itself: for what AWS does to a server and its administrator may not.
func AsOwner(t engine.Target) engine.Target {
	t.User = Owner
	return t
}
