package replication

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
	"plimsoll/internal/poll"
)

// source is a server that another is to follow.
type source struct{ name, address string }

func (s *server) asSource() source { return source{s.name(), s.address()} }

// follow makes a server follow another from what it has, by GTID, and returns when both of its threads run.
func (s *server) follow(ctx context.Context, source source) error {
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	beside, err := outsideOf(ctx, s, is)
	if err != nil {
		return err
	}
	channel, before, err := beside.follows()
	if err != nil {
		return err
	}
	from, err := s.from(source, before, len(is.Sources) > 0)
	if err != nil {
		return err
	}
	var statements []string
	if len(is.Sources) > 0 {
		statements = append(statements, s.dialect.Stop(channel)...)
	} else if s.mariadb {
		// MySQL keeps all that was executed in one set. MariaDB keeps apart what was written here and what was replicated:
		// where it goes on is what was replicated, so a former primary's own writes must be put there.
		has, err := positionOf(ctx, s)
		if err != nil {
			return err
		}
		statements = append(statements, admin.MariaDB{}.SetReplicated(has))
	}
	if err := s.do(ctx, from.Password, slices.Concat(statements, []string{s.dialect.Follow(channel, from)}, s.dialect.Start(channel))...); err != nil {
		return fmt.Errorf("replicate from %s: %w", source.name, err)
	}
	return awaitRunning(ctx, s, channel, source.name)
}

// from is the source to be named. A server that follows one already keeps its account and its encryption.
func (s *server) from(source source, before engine.Source, follows bool) (from admin.Source, err error) {
	if from.Host, from.Port, err = net.SplitHostPort(source.address); err != nil {
		return from, fmt.Errorf("address of %s: %w", source.name, err)
	}
	account, known := s.account()
	if !known && before.User == "" {
		return from, &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know as which user %s can log in at %s to replicate", s.name(), source.name),
			Advice: "name the account in the inventory: replication: {user: …, password: {env: …}}",
		}
	}
	if !known || follows && s.on.Replication == nil && s.on.Environment != cluster.Lab {
		return from, nil
	}
	from.User, from.Password, from.Encrypted = account.User, account.Password, s.encrypted()
	from.Patient = s.on.Environment != cluster.Lab
	return from, nil
}

// encrypted tells whether the cluster is spoken to by TLS alone.
func (s *server) encrypted() bool { return admin.IsTLSOnly(s.node.Target) }

// account is who replicates: the inventory's, in a lab the administrator.
func (s *server) account() (cluster.Account, bool) {
	switch {
	case s.on.Replication != nil:
		return *s.on.Replication, true
	case s.on.Environment == cluster.Lab && s.on.Grower != nil:
		return cluster.Account{User: s.node.Target.User, Password: s.node.Target.Password}, true
	}
	return cluster.Account{}, false
}

// positionOf is what a MariaDB server has: of each domain the highest.
func positionOf(ctx context.Context, s *server) (admin.Position, error) {
	text, err := s.value(ctx, admin.MariaDB{}.ReplicatedAndWritten())
	if err != nil {
		return nil, err
	}
	return admin.ParsePosition(text)
}

// goesOn is how long a server must take what another sends until it counts as following: a source that has purged what it asks for says so only
// after it was asked, and until then the connection counts as running.
const goesOn = 300 * time.Millisecond

// awaitRunning waits until a server takes and applies what another sends, by its channel without a name.
func (s *server) awaitRunning(ctx context.Context, source string) error {
	return awaitRunning(ctx, s, "", source)
}

func awaitRunning(ctx context.Context, s *server, channel, source string) error {
	var since time.Time
	return poll.Until(ctx, 50*time.Millisecond, func() (string, error) {
		is, err := s.status(ctx)
		if err != nil {
			return "", err
		}
		trouble := "it has no source configured"
		if n := slices.IndexFunc(is.Sources, func(from engine.Source) bool { return from.Channel == channel }); n >= 0 {
			from := is.Sources[n]
			if from.Receives && from.Applies {
				if since.IsZero() {
					since = time.Now()
				}
				if time.Since(since) >= goesOn {
					return "", nil
				}
				return s.name() + " has begun to follow " + source, nil
			}
			since = time.Time{}
			if trouble = from.Trouble; trouble != "" && (!from.Applies || stopsForGood(from.Code)) {
				return "", &hint.PermanentError{Reason: fmt.Sprintf("%s cannot follow %s: %s", s.name(), source, trouble), Advice: adviceOn(s, from.Code)}
			}
		}
		return fmt.Sprintf("%s does not follow %s yet: %s", s.name(), source, trouble), nil
	})
}

// stopsForGood tells errors of the receiver that trying again cannot mend: the source cannot send its binary log from that place on,
// or the servers are such that one cannot follow the other.
func stopsForGood(code string) bool {
	return admin.CannotSend(code) || code == "1593" || code == "13117"
}

func adviceOn(s *server, code string) string {
	if admin.CannotSend(code) {
		return "if the source no longer has the binary logs that " + s.name() + " lacks, seed it again: " + seedAgain(s)
	}
	return "check the log of " + s.name()
}

// unfollow makes a server follow nobody.
func (s *server) unfollow(ctx context.Context) error {
	is, err := s.status(ctx)
	if err != nil || len(is.Sources) == 0 {
		return err
	}
	if err := s.singleSource(is); err != nil {
		return err
	}
	return s.do(ctx, "", append(s.dialect.Stop(""), s.dialect.Forget("")...)...)
}

// singleSource refuses servers with several sources: which of them is meant cannot be told.
func (s *server) singleSource(is engine.ReplicationStatus) error {
	if followsOne(is) {
		return nil
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s replicates %s", s.name(), channelsOf(is)), Advice: "this runbook is for a primary and its replicas"}
}
