package channel

import (
	"context"
	"strings"

	"plimsoll/engine/mysql/admin"
)

// profile is what decides whether servers can replicate from one another.
type profile struct {
	Node     string
	Address  string
	Product  string // as engine.Facts
	Version  string
	Cloud    bool // RDS or Aurora: replication is set up by procedures, not by statements
	Calls    bool // these procedures, which this account may
	ID       string
	UUID     string // MySQL
	Binlog   bool
	Format   string // of the binary log
	GTID     string // gtid_mode; ON in MariaDB, which always has them
	Domain   string // MariaDB
	ReadOnly bool   // for everybody
}

// profiled are the variables that a profile is read from.
var profiled = []string{
	"server_id", "server_uuid", "log_bin", "binlog_format", "gtid_mode", "gtid_domain_id", "basedir", "super_read_only",
}

func profileOf(ctx context.Context, s *server) (profile, error) {
	rows, err := s.rows(ctx, admin.Variables(profiled...))
	if err != nil {
		return profile{}, err
	}
	v := map[string]string{}
	for _, row := range rows {
		v[row["variable_name"]] = row["value"]
	}
	_, calls := s.Dialect.(admin.RDS)
	p := profile{
		Calls: calls, Node: s.name, Product: s.facts.Product, Version: s.facts.Version,
		Cloud: s.facts.Product == "Aurora MySQL" || strings.Contains(v["basedir"], "rdsdbbin") || calls,
		ID:    v["server_id"], UUID: v["server_uuid"], Binlog: v["log_bin"] == "ON", Format: v["binlog_format"],
		GTID: v["gtid_mode"], Domain: v["gtid_domain_id"], ReadOnly: v["super_read_only"] == "ON",
	}
	if _, always := s.Dialect.(admin.MariaDB); always {
		p.GTID = "ON"
	}
	if p.Format == "" {
		p.Format = "ROW" // versions that know no other have no such variable
	}
	return p, nil
}

// family tells MariaDB from MySQL and what is built of it.
func (p profile) family() string {
	if p.Product == "MariaDB" {
		return p.Product
	}
	return "MySQL"
}

func (p profile) String() string { return p.Node + " (" + p.Product + " " + p.Version + ")" }
