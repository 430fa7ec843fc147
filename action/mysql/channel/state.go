package channel

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"plimsoll/hint"
)

// state is how a channel stands, as its replica says.
type state struct {
	Name      string
	Source    string // host:port
	Receiving bool   // changes come in
	Applying  bool   // they are made here
	Connects  bool   // it does not receive yet, or not any more, and tries
	Error     string // why it stopped, or cannot connect
	Code      string // the server's, of Error
	GTID      bool   // it finds its place by GTID
	Databases []string
	Lag       string // seconds, as the server says; "" when it does not
	Done      place  // in the source's binary log
}

func (s state) runs() bool { return s.Receiving && s.Applying }

// failure is why a channel has stopped for good; nil while it runs, connects, or was stopped by a person.
func (s state) failure() error {
	if s.Error == "" || s.runs() || s.Connects && s.Applying {
		return nil
	}
	err := fmt.Errorf("channel %q from %s stopped: %s", s.Name, s.Source, s.Error)
	if s.Code == "1236" || s.Code == "13114" { // before MySQL 8, and since: the source cannot send its binary log
		return &hint.PermanentError{
			Reason: err.Error(),
			Advice: "where the source no longer has the changes from that place on, begin again with a newer copy, and keep the binary logs longer",
		}
	}
	return err
}

// states are all channels of a server.
func (s *server) states(ctx context.Context) ([]state, error) {
	rows, err := s.rows(ctx, s.channels())
	if err != nil {
		return nil, fmt.Errorf("look at replication: %w", err)
	}
	var all []state
	for _, row := range rows {
		plain := map[string]string{}
		for column, value := range row { // one name for what versions and products call master and source
			plain[strings.NewReplacer("master", "source", "slave", "replica").Replace(column)] = value
		}
		c := state{
			Name:      plain["channel_name"] + plain["connection_name"],
			Source:    net.JoinHostPort(plain["source_host"], plain["source_port"]),
			Receiving: plain["replica_io_running"] == "Yes",
			Connects:  plain["replica_io_running"] == "Connecting" || plain["replica_io_running"] == "Preparing",
			Applying:  plain["replica_sql_running"] == "Yes",
			GTID:      plain["auto_position"] == "1" || plain["using_gtid"] != "" && plain["using_gtid"] != "No",
			Lag:       plain["seconds_behind_source"],
			Done:      place{plain["relay_source_log_file"], plain["exec_source_log_pos"]},
		}
		if plain["source_host"] == "" {
			continue // forgotten, and still listed
		}
		if c.Error, c.Code = plain["last_sql_error"], plain["last_sql_errno"]; c.Error == "" {
			c.Error, c.Code = plain["last_io_error"], plain["last_io_errno"]
		}
		for database := range strings.SplitSeq(plain["replicate_do_db"], ",") {
			if database = strings.Trim(strings.TrimSpace(database), "`"); database != "" {
				c.Databases = append(c.Databases, database)
			}
		}
		slices.Sort(c.Databases)
		all = append(all, c)
	}
	return all, nil
}

// state is one channel; nil if there is none of that name.
func (s *server) state(ctx context.Context, channel string) (*state, error) {
	all, err := s.states(ctx)
	for i := range all {
		if all[i].Name == channel {
			return &all[i], err
		}
	}
	return nil, err
}

// from is the channel by which a server follows another; nil if it does not.
func (s *server) from(ctx context.Context, source *server) (*state, error) {
	all, err := s.states(ctx)
	for i := range all {
		if all[i].Source == source.address() {
			return &all[i], err
		}
	}
	return nil, err
}

func (s *server) address() string { return net.JoinHostPort(s.host, s.port) }
