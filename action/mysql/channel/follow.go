package channel

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// glance is how long to wait before looking again at what changes in moments.
const glance = 50 * time.Millisecond

// origin is how a replica reaches a source: by the account that nodes follow one another with.
func (s *server) origin() (admin.Source, error) {
	if strings.HasPrefix(s.target.Addresses[0], "/") {
		return admin.Source{}, &hint.PermanentError{
			Reason: fmt.Sprintf("node %s has a Unix socket as its address, which a replica on another machine cannot reach", s.name), Advice: "give its host and port in the inventory",
		}
	}
	o := admin.Source{Host: s.host, Port: s.port, User: s.target.User, Password: s.target.Password, Encrypted: admin.IsTLSOnly(s.target)}
	switch {
	case s.on.Replication != nil:
		o.User, o.Password = s.on.Replication.User, s.on.Replication.Password
	case s.on.Environment != cluster.Lab:
		return admin.Source{}, &hint.PermanentError{
			Reason: fmt.Sprintf("the inventory names no replication account for replicas of %s", s.name),
			Advice: "CREATE USER … and GRANT REPLICATION SLAVE ON *.* on it, and name it as replication: {user, password} of the cluster",
		}
	}
	return o, nil
}

// follow makes or changes a channel. The password is in no log that the server keeps of statements, and in no error.
func (s *server) follow(ctx context.Context, source *server, channel string, from admin.Source) error {
	if d, is := s.Dialect.(admin.RDS); is {
		if err := canFollow(d, s.name, channel, from.Place != (admin.Place{})); err != nil {
			return err
		}
	}
	texts, err := unloggedTables(ctx, s, s.Follow(channel, from))
	if err != nil {
		return err
	}
	return from.Password.Redact(s.do(ctx, "follow "+source.name, texts...))
}

// run starts a channel and waits until it runs.
func (s *server) run(ctx context.Context, channel string) error {
	if err := s.do(ctx, "start replication", s.Start(channel)...); err != nil {
		return err
	}
	return s.until(ctx, channel, "replication does not run yet", admin.Channel.Runs)
}

// until waits for a channel to be in some state.
func (s *server) until(ctx context.Context, channel, waiting string, reached func(admin.Channel) bool) error {
	return poll.Until(ctx, glance, func() (string, error) {
		c, err := s.state(ctx, channel)
		if err != nil {
			return "", err
		}
		if c == nil {
			return "", fmt.Errorf("%s has no channel %q any more", s.name, channel)
		}
		if reached(*c) {
			return "", nil
		}
		if c.Error != "" {
			return waiting + ": " + c.Error, stoppedForGood(*c)
		}
		return waiting, nil
	})
}

// drop stops a channel and forgets it. One that is not there is fine.
func (s *server) drop(ctx context.Context, channel string) error {
	c, err := s.state(ctx, channel)
	if err != nil || c == nil {
		return err
	}
	return s.do(ctx, "remove the channel", append(s.Stop(channel), s.Forget(channel)...)...)
}

// reach waits until a replica has all that a source's binary log had at a position.
func (s *server) reach(ctx context.Context, channel, position string) error {
	position, err := foreignTransactions(ctx, s, position)
	if err != nil || position == "" {
		return err
	}
	for {
		behind, err := s.value(ctx, s.Await(position))
		if err != nil {
			return fmt.Errorf("wait for %s: %w", position, err)
		}
		if behind == "0" {
			return nil
		}
		c, err := s.state(ctx, channel)
		if err != nil {
			return err
		}
		switch {
		case c == nil:
			return fmt.Errorf("%s has no channel %q any more", s.name, channel)
		case stoppedForGood(*c) != nil:
			return stoppedForGood(*c)
		case !c.Applying:
			return fmt.Errorf("channel %q of %s is stopped", channel, s.name)
		}
	}
}

// foreignTransactions takes out of a position what the server itself wrote: that does not come back to it. In MariaDB waiting for it
// would not end; in MySQL it has it.
func foreignTransactions(ctx context.Context, s *server, position string) (string, error) {
	if _, is := s.Dialect.(admin.MariaDB); !is || position == "" {
		return position, nil
	}
	id, err := s.variable(ctx, "server_id")
	if err != nil {
		return "", err
	}
	g, err := admin.ParsePosition(position)
	if err != nil {
		return "", err
	}
	for domain, at := range g {
		if at.Server == id {
			delete(g, domain)
		}
	}
	return g.String(), nil
}
