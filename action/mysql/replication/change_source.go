package replication

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// source is a server that another is to follow.
type source struct{ name, address string }

func (s *server) asSource() source { return source{s.name(), s.address()} }

// follow makes a server follow another from what it has, by GTID, and returns when both of its threads run.
func (s *server) follow(ctx context.Context, source source) error {
	is, err := s.standing(ctx)
	if err != nil {
		return err
	}
	change, secret, err := s.change(source, is)
	if err != nil {
		return err
	}
	var statements []string
	if len(is.Sources) > 0 {
		statements = append(statements, s.words().stop)
	} else if s.mariadb {
		// MySQL keeps all that was executed in one set. MariaDB keeps apart what was written here and what was replicated:
		// where it goes on is what was replicated, so a former primary's own writes must be put there.
		has, err := s.position(ctx)
		if err != nil {
			return err
		}
		statements = append(statements, "SET GLOBAL gtid_slave_pos = "+admin.Text(has))
	}
	if err := s.do(ctx, secret, append(statements, change, s.words().start)...); err != nil {
		return fmt.Errorf("follow %s: %w", source.name, err)
	}
	return s.awaitRunning(ctx, source.name)
}

// words are the statements that the products call differently.
type words struct{ start, stop, stopReceiver, forget string }

func (s *server) words() words {
	if s.mariadb {
		return words{"START SLAVE", "STOP SLAVE", "STOP SLAVE IO_THREAD", "RESET SLAVE ALL"}
	}
	return words{"START REPLICA", "STOP REPLICA", "STOP REPLICA IO_THREAD", "RESET REPLICA ALL"}
}

// change is the statement that names the source. A server that follows already keeps its account and its encryption.
func (s *server) change(source source, is engine.ReplicationStatus) (string, engine.Secret, error) {
	host, port, err := net.SplitHostPort(source.address)
	if err != nil {
		return "", "", fmt.Errorf("address of %s: %w", source.name, err)
	}
	prefix, change := "SOURCE_", "CHANGE REPLICATION SOURCE TO "
	automatic := "SOURCE_AUTO_POSITION = 1"
	if s.mariadb {
		prefix, change, automatic = "MASTER_", "CHANGE MASTER TO ", "MASTER_USE_GTID = slave_pos"
	}
	parts := []string{prefix + "HOST = " + admin.Text(host), prefix + "PORT = " + port, automatic}
	account, known := s.account()
	if !known && (len(is.Sources) == 0 || is.Sources[0].User == "") {
		return "", "", &hint.PermanentError{
			Reason: fmt.Sprintf("Plimsoll does not know as which user %s can log in at %s to replicate", s.name(), source.name),
			Advice: "name the account in the inventory: replication: {user: …, password: {env: …}}",
		}
	}
	if !known || len(is.Sources) > 0 && s.on.Replication == nil && s.on.Environment != cluster.Lab {
		return change + strings.Join(parts, ", "), "", nil
	}
	parts = append(parts, prefix+"USER = "+admin.Text(account.User), prefix+"PASSWORD = "+admin.Text(string(account.Password)))
	if s.on.Environment == cluster.Lab {
		parts = append(parts, prefix+"CONNECT_RETRY = 1")
		if !s.mariadb { // whose newer versions give up after ten tries
			parts = append(parts, prefix+"RETRY_COUNT = 86400")
		}
	}
	switch encrypted := s.encrypted(); {
	case encrypted || s.mariadb:
		parts = append(parts, fmt.Sprintf("%sSSL = %d", prefix, map[bool]int{true: 1}[encrypted]))
	default:
		parts = append(parts, "GET_SOURCE_PUBLIC_KEY = 1")
	}
	return change + strings.Join(parts, ", "), account.Password, nil
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

// position is what a MariaDB server has, in its own form: of each domain the highest.
func (s *server) position(ctx context.Context) (string, error) {
	text, err := s.value(ctx, "SELECT CONCAT(@@GLOBAL.gtid_slave_pos, ',', @@GLOBAL.gtid_binlog_pos)")
	if err != nil {
		return "", err
	}
	highest, order := map[string]string{}, []string{}
	number := func(gtid string) int64 {
		g, err := parsePosition(gtid, false)
		if err != nil {
			return -1
		}
		return g.count()
	}
	for gtid := range strings.SplitSeq(text, ",") {
		domain, _, ok := strings.Cut(gtid, "-")
		if !ok {
			continue
		}
		if highest[domain] == "" {
			order = append(order, domain)
		}
		if number(gtid) >= number(highest[domain]) {
			highest[domain] = gtid
		}
	}
	var all []string
	for _, domain := range order {
		all = append(all, highest[domain])
	}
	return strings.Join(all, ","), nil
}

// awaitRunning waits until a server takes and applies what another sends.
func (s *server) awaitRunning(ctx context.Context, source string) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		is, err := s.standing(ctx)
		if err != nil {
			return err
		}
		trouble := "it was not told whom to follow"
		if len(is.Sources) > 0 {
			from := is.Sources[0]
			if from.Receives && from.Applies {
				return nil
			}
			if trouble = from.Trouble; trouble != "" && (!from.Applies || stopsForGood(from.Code)) {
				return &hint.PermanentError{Reason: fmt.Sprintf("%s cannot follow %s: %s", s.name(), source, trouble), Advice: s.advice(from.Code)}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%w; %s does not follow %s yet: %s", context.Cause(ctx), s.name(), source, trouble)
		}
	}
}

// stopsForGood tells errors of the receiver that trying again cannot mend: the source cannot send its binary log from that place on,
// or the servers are such that one cannot follow the other.
func stopsForGood(code string) bool { return cannotSend(code) || code == "1593" || code == "13117" }

// cannotSend tells the code of a source that cannot send its binary log; MySQL 8 has another than all before it.
func cannotSend(code string) bool { return code == "1236" || code == "13114" }

func (s *server) advice(code string) string {
	if cannotSend(code) {
		return "where the source does not have the binary logs any more that " + s.name() + " lacks, seed it anew, with mysql/add-replica"
	}
	return "look at the log of " + s.name()
}

// unfollow makes a server follow nobody.
func (s *server) unfollow(ctx context.Context) error {
	is, err := s.standing(ctx)
	if err != nil || len(is.Sources) == 0 {
		return err
	}
	return s.do(ctx, "", s.words().stop, s.words().forget)
}

// singleSource refuses servers with several sources: which of them is meant cannot be told.
func (s *server) singleSource(is engine.ReplicationStatus) error {
	if len(is.Sources) > 1 || len(is.Sources) == 1 && is.Sources[0].Channel != "" {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s follows %d sources by named channels", s.name(), len(is.Sources)),
			Advice: "this runbook is for a primary and its replicas"}
	}
	return nil
}
