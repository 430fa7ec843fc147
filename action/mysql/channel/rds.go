package channel

import (
	"context"
	"fmt"

	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// canFollow refuses a channel for which the server has no procedure.
func canFollow(d admin.RDS, node, channel string, byPlace bool) error {
	name := d.Lacks(channel, byPlace)
	if name == "" {
		return nil
	}
	advice := "update the server: RDS for MySQL has it from 8.0.35 on, and in 5.7.44"
	if !byPlace {
		advice = "give the position in the source's binary log as FILE:POS"
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s is on RDS and has no procedure mysql.%s that this account may call", node, name), Advice: advice}
}

// unloggedTables has the server keep a statement with a secret out of its logs as far as the account may: not out of the general log.
func unloggedTables(ctx context.Context, s *server, text string) ([]string, error) {
	rds, is := s.Dialect.(admin.RDS)
	if !is {
		return admin.Unlogged(text), nil
	}
	if general, err := s.variable(ctx, "general_log"); err != nil {
		return nil, err
	} else if general != "OFF" && general != "0" {
		return nil, &hint.PermanentError{
			Reason: fmt.Sprintf("%s writes a general log, which would record the replication password: RDS takes it as an argument of a procedure call", s.name),
			Advice: "set its parameter general_log to 0 meanwhile, with rds/set-parameter",
		}
	}
	return rds.Unlogged(text), nil
}

// givesOnlyDatabases refuses a source that has more databases than a channel of RDS is to let through.
func givesOnlyDatabases(ctx context.Context, s *server, databases []string) error {
	there, err := s.databases(ctx)
	if err != nil {
		return err
	}
	wanted := map[string]bool{seedDatabase: true}
	for _, d := range append(systemDatabases, databases...) {
		wanted[d] = true
	}
	for _, d := range there {
		if !wanted[d] {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s also has a database %s, and a channel of RDS replicates everything that no parameter filters", s.name, d),
				Advice: "name all of its databases, or use a server of your own as the replica",
			}
		}
	}
	return nil
}
