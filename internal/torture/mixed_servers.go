package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"plimsoll/engine"
	"plimsoll/engine/mysql"
	"plimsoll/internal/poll"
)

// server is one of MariaDB or MySQL, asked by its own protocol: nothing of what runbooks believe is used.
type server struct {
	Name    string `json:"name"`
	Address string `json:"address"`
	Pid     int    `json:"pid"`
	State   string `json:"state"`
	Role    string `json:"role"`

	account engine.Target
}

// standing is what a server says of itself.
type standing struct {
	answers, writable bool
	follows           []string // hosts from which it receives and applies
	claim             string   // the run that has the cluster, as its table says
	locked            bool     // somebody has the lock of a cluster without a primary
	rows              string   // what its ledger holds, as a sum of all
}

const askingTime = 2 * time.Second

// table asks over a connection of its own.
func (s server) table(ctx context.Context, text string) ([]map[string]string, error) {
	limited, cancel := context.WithTimeout(ctx, askingTime)
	defer cancel()
	t := s.account
	t.Addresses = []string{s.Address}
	session, err := mysql.Engine{}.Dial(limited, t)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }()
	if text == "" {
		return nil, nil
	}
	return session.(engine.Tabular).Table(limited, text)
}

func (s server) look(ctx context.Context) (is standing) {
	rows, err := s.table(ctx, "SELECT @@GLOBAL.read_only AS r, VERSION() AS v, IS_USED_LOCK('plimsoll.claim') AS l")
	if err != nil || len(rows) != 1 {
		return is
	}
	is.answers, is.writable, is.locked = true, rows[0]["r"] == "0", rows[0]["l"] != ""
	ask := "SHOW REPLICA STATUS"
	if strings.Contains(rows[0]["v"], "MariaDB") {
		ask = "SHOW ALL SLAVES STATUS"
	}
	channels, _ := s.table(ctx, ask)
	for _, c := range channels {
		yes := func(names ...string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return c[n] == "Yes" })
		}
		if yes("Slave_IO_Running", "Replica_IO_Running") && yes("Slave_SQL_Running", "Replica_SQL_Running") {
			is.follows = append(is.follows, c["Master_Host"]+c["Source_Host"])
		}
	}
	if rows, err := s.table(ctx, "SELECT run FROM plimsoll.claim WHERE id = 1"); err == nil && len(rows) == 1 {
		is.claim = rows[0]["run"]
	}
	if rows, err := s.table(ctx, "SELECT COUNT(*) AS n, COALESCE(SUM(id), 0) AS s FROM attack.ledger"); err == nil && len(rows) == 1 {
		is.rows = rows[0]["n"] + " rows, sum " + rows[0]["s"]
	}
	return is
}

// signal is sent to a server's process.
func (s server) signal(sig syscall.Signal) error {
	if s.Pid <= 0 {
		return nil
	}
	if err := syscall.Kill(s.Pid, sig); err != nil {
		return fmt.Errorf("signal %s: %w", s.Name, err)
	}
	return nil
}

// scene is the cluster as it stands.
type scene struct {
	primaries, strays, silent []string
	locked                    []string
	claim                     string // as the one primary says
	differ                    string // servers that hold another ledger than the primary
}

// healthy: one server takes writes, all others answer and follow it, and hold what it holds.
func (s scene) healthy() bool {
	return len(s.primaries) == 1 && len(s.strays) == 0 && len(s.silent) == 0 && s.differ == ""
}

func (s scene) String() string {
	return fmt.Sprintf("takes writes: %v; does not follow: %v; does not answer: %v; %s", s.primaries, s.strays, s.silent, s.differ)
}

// lookAt asks every server.
func lookAt(ctx context.Context, servers []server) (s scene) {
	all := make([]standing, len(servers))
	var asking sync.WaitGroup
	for i := range servers {
		asking.Go(func() { all[i] = servers[i].look(ctx) })
	}
	asking.Wait()
	host, rows := "", ""
	for i, is := range all {
		switch {
		case !is.answers:
			s.silent = append(s.silent, servers[i].Name)
		case is.writable:
			s.primaries = append(s.primaries, servers[i].Name)
			host, _, _ = strings.Cut(servers[i].Address, ":")
			s.claim, rows = is.claim, is.rows
		}
		if is.locked {
			s.locked = append(s.locked, servers[i].Name)
		}
	}
	for i, is := range all {
		if is.answers && !is.writable {
			if !slices.Contains(is.follows, host) {
				s.strays = append(s.strays, servers[i].Name)
			} else if is.rows != rows {
				s.differ += fmt.Sprintf("%s holds %s, the primary %s; ", servers[i].Name, is.rows, rows)
			}
		}
	}
	return s
}

// settle looks until the cluster is healthy, or for that long.
func settle(ctx context.Context, servers []server, within time.Duration) (s scene) {
	for end := time.Now().Add(within); ; {
		if s = lookAt(ctx, servers); s.healthy() || time.Now().After(end) || ctx.Err() != nil {
			return s
		}
		rest(ctx, 300*time.Millisecond)
	}
}

func rest(ctx context.Context, d time.Duration) { _ = poll.Rest(ctx, d) } // who goes on looks at ctx
