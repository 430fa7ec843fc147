package replication

import (
	"context"
	"fmt"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// mode is whether a server refuses writes, now and after a restart, by the names of the facts.
//
// MySQL has two degrees; MariaDB has one, which users with the privilege READ ONLY ADMIN pass by. What holds after a restart
// stands in the settings that a lab writes, else in MySQL's own file of persisted variables; of another MariaDB, and of a MySQL that
// does not load that file, only its option file knows.
type mode map[string]string

// The facts of a mode.
const (
	modeNow      = "read_only"
	modeSuper    = "super_read_only"
	keptNow      = "kept_read_only"
	keptSuper    = "kept_super_read_only"
	cannotBeKept = "unknown"
)

// kept are the variables that are kept, by their facts.
var kept = map[string]string{keptNow: modeNow, keptSuper: modeSuper}

func (m mode) refuses(s *server) bool {
	return m[modeNow] == "1" && (s.mariadb || m[modeSuper] == "1")
}

// opensAgain tells whether a server takes writes after its next start, whatever it does now.
func (m mode) opensAgain() bool { return m[keptNow] == "OFF" || m[keptSuper] == "OFF" }

func (m mode) facts() action.Facts {
	f := action.Facts{}
	for name, value := range m {
		f[name] = value
	}
	return f
}

// modeIn reads a mode back from a journal's facts.
func modeIn(f action.Facts) mode {
	m := mode{}
	for _, name := range []string{modeNow, modeSuper, keptNow, keptSuper} {
		if v, ok := f[name].(string); ok {
			m[name] = v
		}
	}
	return m
}

// refusing and taking are the modes of a replica and of a primary.
func (s *server) refusing() mode {
	m := mode{modeNow: "1", keptNow: "ON"}
	if !s.mariadb {
		m[modeSuper], m[keptSuper] = "1", "ON"
	}
	return m
}

func (s *server) taking() mode {
	m := mode{modeNow: "0", keptNow: "OFF"}
	if !s.mariadb {
		m[modeSuper], m[keptSuper] = "0", "OFF"
	}
	return m
}

// asFarAsKept leaves out of an intended mode what is not known of the present one: nothing that Plimsoll does changes it.
func (m mode) asFarAsKept(now mode) mode {
	for fact := range kept {
		if now[fact] == cannotBeKept {
			m[fact] = cannotBeKept
		}
	}
	return m
}

func modeOf(ctx context.Context, s *server) (mode, error) {
	m := mode{}
	names := []string{modeNow}
	if !s.mariadb {
		names = append(names, modeSuper)
	}
	for _, name := range names {
		v, err := s.value(ctx, admin.Global(name))
		if err != nil {
			return nil, err
		}
		switch strings.ToUpper(v) {
		case "0", "OFF":
			m[name] = "0"
		default: // newer versions have several degrees
			m[name] = "1"
		}
	}
	return m, readKeptMode(ctx, s, m)
}

func readKeptMode(ctx context.Context, s *server, m mode) error {
	own, assignable := cluster.As[cluster.Assignable](s.node.Server)
	keeps, err := keepsMode(ctx, s)
	if err != nil {
		return err
	}
	for fact, name := range kept {
		if _, has := m[name]; !has {
			continue
		}
		switch {
		case assignable:
			settings, err := own.Assigned(ctx)
			if err != nil {
				return err
			}
			if m[fact] = settings[name]; m[fact] == "" {
				m[fact] = notKept
			}
		case !keeps:
			m[fact] = cannotBeKept
		default:
			v, err := s.value(ctx, admin.Persisted(name))
			if err != nil {
				return err
			}
			m[fact] = v
		}
	}
	return nil
}

// keepsMode tells whether what a server is told for after a restart is what it starts with.
func keepsMode(ctx context.Context, s *server) (bool, error) {
	if _, assignable := cluster.As[cluster.Assignable](s.node.Server); assignable || s.mariadb {
		return assignable, nil
	}
	loads, err := s.value(ctx, admin.LoadsPersisted)
	return !admin.IsOff(loads), err
}

// optionFile says of a server whose mode cannot be kept what decides it after a restart, and what to do then; "" of one whose mode can.
func optionFile(s *server, m mode, decides, todo string) string {
	if m[keptNow] != cannotBeKept {
		return ""
	}
	text := "its option file decides " + decides
	if !s.mariadb {
		text += ", as persisted_globals_load is OFF"
	}
	if todo != "" {
		text += ": " + todo
	}
	return text
}

// atStart is the caution that only an option file knows what a server is after its next start; none where that is known.
func atStart(ctx context.Context, s *server, decides, todo string) []action.Caution {
	m, err := modeOf(ctx, s)
	if err != nil {
		return nil
	}
	text := optionFile(s, m, decides, todo)
	if text == "" {
		return nil
	}
	return []action.Caution{{Text: s.name() + ": " + text}}
}

// closedAtStart is what a person does about the option file of a server that is to refuse writes.
func closedAtStart(s *server) string {
	if s.mariadb {
		return "put read_only = ON into it"
	}
	return "put super_read_only = ON into it"
}

// setMode makes a server refuse writes or take them. One that is to refuse them is first told so for after a restart, and one that is to take
// them last: cut off in between, it must not take them after its next start while another may have become the primary. Clients' statements under
// way can hold it up.
func setMode(ctx context.Context, s *server, m mode) error {
	return setModeBy(ctx, s, m, func(string) {})
}

// setModeBy tells by which connection the server is told to refuse writes.
func setModeBy(ctx context.Context, s *server, m mode, by func(connection string)) error {
	defer s.on.RolesChanged()
	if m.reopens() {
		if err := s.takeWrites(ctx); err != nil {
			return err
		}
		return keepMode(ctx, s, m)
	}
	if err := keepMode(ctx, s, m); err != nil {
		return err
	}
	refusing := []admin.Variable{{Name: modeNow, Literal: "1"}}
	if !s.mariadb {
		refusing = append(refusing, admin.Variable{Name: modeSuper, Literal: m[modeSuper]})
	}
	return s.order(ctx, func(orders admin.Orders) error {
		connection, err := orders.Value(ctx, admin.Connection)
		if err != nil {
			return err
		}
		by(connection)
		return admin.Close(ctx, orders, s.opensWithin, refusing...)
	})
}

// open makes a server take writes, and last for after a restart.
func (s *server) open(ctx context.Context) error { return setMode(ctx, s, s.taking()) }

// takeWrites makes a server take writes, as long as nobody else has taken the lock of the cluster: this process may be suspended at any moment,
// and wake between being told that the cluster is still its run's and giving the order; so may the server between the order and its execution.
func (s *server) takeWrites(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*patience, fmt.Errorf("%s does not answer within %s", s.name(), 2*patience))
	defer cancel()
	return admin.AsStaysReadOnly(s.order(ctx, func(orders admin.Orders) error { return admin.Open(ctx, orders, s.opensWithin) }))
}

// order has one connection for an order and what is asked before it, which is made before its time begins: it can take long on a busy server.
func (s *server) order(ctx context.Context, give func(admin.Orders) error) error {
	return s.on.Use(ctx, s.name(), func(session engine.Session) error {
		named := func(err error) error {
			if err != nil {
				err = fmt.Errorf("node %s: %w", s.name(), err)
			}
			return err
		}
		orders := admin.Orders{
			Name:    s.name(),
			Address: s.address(),
			Value: func(ctx context.Context, query string) (string, error) {
				value, err := cluster.ValueOf(ctx, session, query)
				return value, named(err)
			},
			Do: func(ctx context.Context, statements ...string) error {
				return named(cluster.ExecuteBy(ctx, session, statements, func(int) {}))
			},
		}
		return orders.Alone(ctx, func() error { return give(orders) })
	})
}

func keepMode(ctx context.Context, s *server, m mode) error {
	own, assignable := cluster.As[cluster.Assignable](s.node.Server)
	if assignable {
		if err := assignMode(ctx, own, m); err != nil {
			return err
		}
	}
	if s.mariadb {
		return nil
	}
	keeps, err := keepsMode(ctx, s)
	if err != nil {
		return err
	}
	if assignable || !keeps { // what was persisted would win over the settings, or, in a start that loads it, over the option file
		return s.do(ctx, "", admin.Unpersist(modeNow), admin.Unpersist(modeSuper))
	}
	var statements []string
	for fact, name := range kept {
		switch value := m[fact]; value {
		case "", cannotBeKept:
		case notKept:
			statements = append(statements, admin.Unpersist(name))
		default:
			statements = append(statements, admin.Persist(name, value))
		}
	}
	return s.do(ctx, "", statements...)
}

// assignMode writes what is to be kept into a server's settings for its next start.
func assignMode(ctx context.Context, own cluster.Assignable, m mode) error {
	others := map[string]string{}
	for fact, name := range kept {
		switch value := m[fact]; value {
		case "", cannotBeKept:
		case notKept:
			others[name] = ""
		default:
			others[name] = value
		}
	}
	return cluster.Reassign(ctx, own, others)
}
