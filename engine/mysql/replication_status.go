package mysql

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Replicated = (*database)(nil)

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
