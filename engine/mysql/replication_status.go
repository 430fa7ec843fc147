package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var (
	_ engine.Replicated  = (*database)(nil)
	_ engine.Restartable = (*database)(nil)
)

// ReplicationStatus reads whom the server follows, by every channel, whether it is read only, and who reads its binary log.
func (d *database) ReplicationStatus(ctx context.Context) (engine.ReplicationStatus, error) {
	var status engine.ReplicationStatus
	err := d.control.use(ctx, func(s *session) (err error) {
		status, err = s.status(ctx)
		return err
	})
	if err != nil {
		return status, fmt.Errorf("read its replication role: %w", err)
	}
	return status, nil
}

func (s *session) status(ctx context.Context) (engine.ReplicationStatus, error) {
	var is engine.ReplicationStatus
	channels, err := s.channels(ctx)
	if err != nil {
		return is, err
	}
	beats := s.heartbeats(ctx)
	for _, c := range channels {
		source := sourceOf(c)
		source.Heard += " " + beats[c.Name]
		is.Sources = append(is.Sources, source)
	}
	mode, err := s.table(ctx, "SELECT @@GLOBAL.read_only AS mode, @@GLOBAL.server_id AS id")
	if err != nil {
		return is, err
	}
	if len(mode) == 1 {
		is.ReadOnly = !admin.IsOff(mode[0]["mode"]) // MariaDB 12 has several modes of it, by name
		is.ServerID = mode[0]["id"]
	}
	dumps, err := s.table(ctx, admin.Dumps)
	is.Followers = len(dumps)
	return is, err
}

// channels are those by which a server follows others.
func (s *session) channels(ctx context.Context) ([]admin.Channel, error) {
	var rows []map[string]string
	var err error
	for _, text := range admin.ChannelForms {
		rows, err = s.table(ctx, text)
		var refused *engine.Error
		if err == nil || !errors.As(err, &refused) || refused.Lost || refused.Kind == engine.Denied {
			break
		}
	}
	var all []admin.Channel
	for _, row := range rows {
		if c, is := admin.ReadChannel(row); is {
			all = append(all, c)
		}
	}
	return all, err
}

// heartbeats are counted by MySQL beside the status, by channel; MariaDB has them in it.
func (s *session) heartbeats(ctx context.Context) map[string]string {
	counts := map[string]string{}
	rows, err := s.table(ctx, admin.HeartbeatCounts)
	if err != nil {
		return counts // MariaDB's table is another; without it only events are heard
	}
	for _, row := range rows {
		counts[row["channel"]] = row["beats"]
	}
	return counts
}

// sourceOf is a channel in the words of the port.
func sourceOf(c admin.Channel) engine.Source {
	seconds := func(text string) time.Duration {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return -1
		}
		return time.Duration(n * float64(time.Second))
	}
	return engine.Source{
		Channel: c.Name, Address: c.Source, ServerID: c.SourceID, UUID: c.SourceUUID, User: c.User, Receives: c.Receiving, Applies: c.Applying,
		Trouble: c.Error, Code: c.Code, Behind: seconds(c.Lag), Delay: max(0, seconds(c.Delay)), Filter: c.Filter,
		Automatic: c.GTID, Received: c.Received, Heard: c.Read.String() + " " + c.Heartbeats,
	}
}

// AtStart implements engine.Restartable. MariaDB, and a MySQL that does not load what is persisted, tell what their option files said at their start, unless a
// statement has set the variable since.
func (c *control) AtStart(ctx context.Context) (is engine.AtStart, keep string, err error) {
	err = c.use(ctx, func(s *session) error {
		is, keep, err = s.atStart(ctx)
		return err
	})
	if err != nil {
		return engine.StartsUnknown, keep, fmt.Errorf("read where its read_only comes from: %w", err)
	}
	return is, keep, nil
}

func (s *session) atStart(ctx context.Context) (engine.AtStart, string, error) {
	const mariadbKeeps, keeps, ignoring = "put read_only = ON into its option file", "execute SET PERSIST super_read_only = ON on it", "put super_read_only = ON into its option file"
	rows, err := s.table(ctx, admin.ReadOnlyOrigin)
	if err == nil { // only MariaDB has this table
		if len(rows) == 1 && rows[0]["origin"] != "SQL" {
			return engine.StartsReadOnly, mariadbKeeps, nil
		}
		return engine.StartsUnknown, mariadbKeeps, nil
	}
	loads, notMySQL := s.table(ctx, admin.LoadsPersisted+" AS loads")
	if notMySQL != nil || len(loads) != 1 {
		return engine.StartsUnknown, ignoring, errors.Join(err, notMySQL)
	}
	ignores := admin.IsOff(loads[0]["loads"])
	if rows, err = s.table(ctx, admin.ReadOnlySources); err != nil {
		return engine.StartsUnknown, ignoring, err
	}
	known := true
	for _, row := range rows {
		switch persisted, has := row["persisted"]; {
		case has && !ignores && !admin.IsOff(persisted):
			return engine.StartsReadOnly, keeps, nil
		case has && !ignores, row["source"] == "COMPILED": // which is OFF, though the other may have set it along
		case row["source"] == "DYNAMIC", row["source"] == "PERSISTED":
			known = false
		case !admin.IsOff(row["value"]):
			return engine.StartsReadOnly, keeps, nil
		}
	}
	switch {
	case !ignores: // nothing that was persisted closes it, which one statement does
		return engine.StartsWritable, keeps, nil
	case known:
		return engine.StartsWritable, ignoring, nil
	}
	return engine.StartsUnknown, ignoring, nil
}

// Wrote implements engine.Restartable.
func (c *control) Wrote(ctx context.Context) (text string, err error) {
	return c.wrote(ctx, func(_ bool, own string) (string, error) { return own, nil })
}

// WroteSince implements engine.Restartable. Of MariaDB it is the last in each domain.
func (c *control) WroteSince(ctx context.Context, before string) (string, error) {
	return c.wrote(ctx, func(mariadb bool, own string) (string, error) {
		if mariadb {
			now, err := admin.ParsePosition(own)
			was, wrong := admin.ParsePosition(before)
			return now.Beyond(was).String(), errors.Join(err, wrong)
		}
		now, err := admin.ParseGTIDSet(own)
		was, wrong := admin.ParseGTIDSet(before)
		return now.Without(was).String(), errors.Join(err, wrong)
	})
}

// wrote hands on what the server wrote itself.
func (c *control) wrote(ctx context.Context, of func(mariadb bool, own string) (string, error)) (text string, err error) {
	err = c.use(ctx, func(s *session) error {
		rows, err := s.table(ctx, "SELECT @@GLOBAL.gtid_binlog_state AS has, @@GLOBAL.server_id AS id")
		if err == nil && len(rows) == 1 {
			own, err := admin.WrittenBy(rows[0]["has"], rows[0]["id"])
			if err == nil {
				text, err = of(true, own.String())
			}
			return err
		}
		if rows, err = s.table(ctx, "SELECT @@GLOBAL.gtid_executed AS has, @@GLOBAL.server_uuid AS id"); err != nil || len(rows) != 1 {
			return err
		}
		all, err := admin.ParseGTIDSet(rows[0]["has"])
		if err == nil {
			own := strings.ToLower(rows[0]["id"])
			text, err = of(false, all.Of(func(origin string) bool { return strings.HasPrefix(origin, own) }).String())
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read what it wrote itself: %w", err)
	}
	return text, nil
}
