package mysql

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/internal/document"
)

var _ engine.Configurable = (*database)(nil)

// Setting reads a global variable by its name or by the name of its option: with - for _, with loose_ before it.
func (c *control) Setting(ctx context.Context, name string) (string, error) {
	wanted := variableName(name)
	shown, err := c.shown(ctx, admin.Variables(wanted))
	if err != nil {
		return "", fmt.Errorf("read the variable %s: %w", wanted, err)
	}
	if value, ok := shown[wanted]; ok {
		return value, nil
	}
	return "", c.noVariable(ctx, name)
}

// Change sets a global variable. It holds for sessions that begin after it where the server keeps a copy in each.
func (c *control) Change(ctx context.Context, name, value string) error {
	wanted := variableName(name)
	switch on := strings.ToUpper(value); {
	case wanted == readOnly && (on == "OFF" || on == "0"):
		return c.setReadOnly(ctx, wanted, admin.Open)
	case (wanted == readOnly || wanted == "super_read_only") && (on == "ON" || on == "1"):
		return c.setReadOnly(ctx, wanted, func(ctx context.Context, server admin.Orders, within time.Duration) error {
			return admin.Close(ctx, server, within, admin.Variable{Name: wanted, Literal: "1"})
		})
	}
	err := c.set(ctx, wanted, admin.Value(value))
	if engine.CodeOf(err) == wrongType && admin.Value(value) != admin.Text(value) {
		err = c.set(ctx, wanted, admin.Text(value)) // a text that looks like a number
	}
	switch {
	case engine.CodeOf(err) == readOnlyVariable: // of a variable that only sessions have it is another
		return &engine.NeedsRestart{Setting: wanted}
	case engine.CodeOf(err) == unknownVariable:
		return c.noVariable(ctx, name)
	case err != nil:
		return fmt.Errorf("set the variable %s: %w", wanted, err)
	}
	return nil
}

// readOnly is the variable by which a server refuses writes.
const readOnly = "read_only"

// setReadOnly makes the server take writes or refuse them, unless the order comes too late.
func (c *control) setReadOnly(ctx context.Context, name string, order func(context.Context, admin.Orders, time.Duration) error) error {
	return c.use(ctx, func(s *session) error {
		err := order(ctx, admin.Orders{
			Name: "the server",
			Value: func(ctx context.Context, query string) (string, error) {
				rows, err := s.Table(ctx, query)
				if err != nil || len(rows) == 0 {
					return "", err
				}
				for _, value := range rows[0] {
					return value, nil
				}
				return "", nil // NULL
			},
			Do: func(ctx context.Context, statements ...string) error {
				for _, statement := range statements {
					if err := s.Exec(ctx, statement, nil); err != nil {
						return err
					}
				}
				return nil
			},
		}, admin.OpensWithin)
		if engine.CodeOf(err) == unknownVariable {
			return c.noVariable(ctx, name)
		}
		if err != nil {
			return fmt.Errorf("set the variable %s: %w", name, err)
		}
		return nil
	})
}

const (
	unknownVariable  = "1193"
	wrongType        = "1232"
	readOnlyVariable = "1238"
)

func (c *control) set(ctx context.Context, name, literal string) error {
	return c.use(ctx, func(s *session) error {
		return s.Exec(ctx, admin.SetGlobal(admin.Name(name), literal), nil)
	})
}

// successors are variables that one of the products or a later version calls otherwise.
var successors = map[string][]string{
	"expire_logs_days":             {"binlog_expire_logs_seconds"},
	"innodb_log_file_size":         {"innodb_redo_log_capacity"},
	"innodb_log_files_in_group":    {"innodb_redo_log_capacity"},
	"innodb_redo_log_capacity":     {"innodb_log_file_size"},
	"innodb_undo_logs":             {"innodb_rollback_segments"},
	"log_slave_updates":            {"log_replica_updates"},
	"max_execution_time":           {"max_statement_time"},
	"max_statement_time":           {"max_execution_time"},
	"replica_parallel_workers":     {"slave_parallel_threads", "slave_parallel_workers"},
	"rpl_semi_sync_master_enabled": {"rpl_semi_sync_source_enabled"},
	"rpl_semi_sync_source_enabled": {"rpl_semi_sync_master_enabled"},
	"slave_parallel_threads":       {"replica_parallel_workers"},
	"slave_parallel_workers":       {"replica_parallel_workers", "slave_parallel_threads"},
	"transaction_isolation":        {"tx_isolation"},
	"tx_isolation":                 {"transaction_isolation"},
}

// noVariable says that there is no such variable, with the name that was probably meant.
func (c *control) noVariable(ctx context.Context, name string) error {
	wanted := variableName(name)
	text := fmt.Sprintf("this server has no variable %s", wanted)
	if all, err := c.shown(ctx, admin.Variables()); err == nil {
		known := slices.Sorted(maps.Keys(all))
		near := document.Nearest(wanted, known)
		for _, successor := range successors[wanted] {
			if _, has := all[successor]; has {
				near = successor
				break
			}
		}
		if near != "" {
			text += fmt.Sprintf(", but %s; did you mean that?", near)
		}
	}
	return &engine.Error{Kind: engine.Missing, Code: unknownVariable, Text: text, Do: "SHOW GLOBAL VARIABLES lists the variables of a server"}
}

// variableName is the variable behind an option's name.
func variableName(name string) string {
	name = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), "-", "_"))
	return strings.TrimPrefix(name, "loose_")
}
