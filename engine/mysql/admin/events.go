package admin

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"plimsoll/hint"
)

// Event is an event of a server's scheduler (CREATE EVENT).
type Event struct{ Schema, Name, Definer string }

// String names it for people.
func (e Event) String() string { return e.Schema + "." + e.Name }

// Alter is the statement that enables or disables it. Without its definer named, whoever executes the statement would be the new one.
func (e Event) Alter(to string) string {
	definer := Name(e.Definer) // a role
	if at := strings.LastIndexByte(e.Definer, '@'); at >= 0 {
		definer = Name(e.Definer[:at]) + "@" + Name(e.Definer[at+1:])
	}
	return "ALTER DEFINER = " + definer + " EVENT " + Name(e.Schema) + "." + Name(e.Name) + " " + to
}

// eventNames begins a query for events: readEvents reads its column. In hexadecimal, since their names may hold any character.
const eventNames = "SELECT DISTINCT CONCAT_WS(' ', HEX(e.event_schema), HEX(e.event_name), HEX(e.definer)) FROM information_schema.EVENTS e "

// eventsPassReadOnly is a query for the events that a MariaDB executes, and that write though it is read-only: their definers may. MySQL's
// super_read_only holds everybody.
func eventsPassReadOnly(v Version) string {
	return eventNames + "JOIN information_schema.user_privileges u ON u.grantee = CONCAT('''', LEFT(e.definer, CHAR_LENGTH(e.definer) - CHAR_LENGTH(SUBSTRING_INDEX(e.definer, '@', -1)) - 1), " +
		"'''@''', SUBSTRING_INDEX(e.definer, '@', -1), '''') WHERE @@GLOBAL.event_scheduler = 'ON' AND e.status = 'ENABLED' AND " + mayPassReadOnly(v)
}

// replicaSideEvents is a query for the events that a server does not execute, as they came to it by replication. A promotion leaves them so.
const replicaSideEvents = eventNames + "WHERE e.status IN ('SLAVESIDE_DISABLED', 'REPLICA_SIDE_DISABLED') ORDER BY 1"

// Asked is a server that is asked by queries of one column.
type Asked struct {
	Name   string // for people
	Column func(ctx context.Context, query string) ([]string, error)
}

func (a Asked) events(ctx context.Context, query string) ([]Event, error) {
	rows, err := a.Column(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("node %s: look for events: %w", a.Name, err)
	}
	var all []Event
	for _, row := range rows {
		var names [3]string
		for i, part := range strings.SplitN(row, " ", len(names)) {
			text, err := hex.DecodeString(part)
			if err != nil {
				return nil, fmt.Errorf("node %s: read the name of an event: %w", a.Name, err)
			}
			names[i] = string(text)
		}
		all = append(all, Event{names[0], names[1], names[2]})
	}
	return all, nil
}

// RefuseEvents refuses a server, of which the writes are to be moved to another, while it executes an event that would go on writing when it is
// read-only: what such an event writes is on that server alone, which could not replicate from the new primary.
func RefuseEvents(ctx context.Context, server Asked, d Dialect, v Version) error {
	if _, is := d.(MariaDB); !is {
		return nil
	}
	all, err := server.events(ctx, eventsPassReadOnly(v))
	if err != nil || len(all) == 0 {
		return err
	}
	names, disable := make([]string, len(all)), make([]string, len(all))
	for i, e := range all {
		names[i], disable[i] = fmt.Sprintf("%s (definer %s)", e, e.Definer), e.Alter("DISABLE")
	}
	right := "READ ONLY ADMIN"
	if v.Less(superAlone) {
		right += " or SUPER"
	}
	what, their := "event "+names[0]+" would continue", "its definer has"
	if len(all) > 1 {
		what, their = fmt.Sprintf("%d events (%s) would continue", len(all), strings.Join(names, ", ")), "their definers have"
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s to write to %s when %[2]s is read-only, because %s the privilege %s: these rows would be on no other server, and %[2]s could not become a replica", what, server.Name, their, right),
		Advice: fmt.Sprintf("execute %s on %s, and enable it on the new primary afterwards; or SET GLOBAL event_scheduler = OFF there, which stops all events; or give it a definer without that privilege: ALTER DEFINER = USER@HOST EVENT %s ENABLE",
			strings.Join(disable, "; "), server.Name, Name(all[0].Schema)+"."+Name(all[0].Name)),
	}
}

const (
	shownEvents  = 5               // that EventsToEnable writes statements for
	eventsWithin = 2 * time.Second // that a server may take to tell its events
)

// EventsToEnable says which events a new primary does not execute, as they came to it by replication, and how they are enabled; "" if it has none.
// It is asked of a server that takes writes already, and so it fails nothing.
func EventsToEnable(ctx context.Context, server Asked) string {
	ctx, cancel := context.WithTimeout(ctx, eventsWithin)
	defer cancel()
	all, err := server.events(ctx, replicaSideEvents)
	switch {
	case err != nil:
		return fmt.Sprintf("check with SHOW EVENTS whether you must enable events on %s; Plimsoll could not read them: %v", server.Name, err)
	case len(all) == 0:
		return ""
	}
	var statements []string
	for _, e := range all[:min(len(all), shownEvents)] {
		statements = append(statements, e.Alter("ENABLE"))
	}
	said := fmt.Sprintf("%s does not execute events that came to it by replication. Execute there, for those that should run: %s", server.Name, strings.Join(statements, "; "))
	if more := len(all) - len(statements); more > 0 {
		said += fmt.Sprintf("; and the same for %d more events, which SHOW EVENTS lists as disabled on the replica", more)
	}
	if scheduler, err := server.Column(ctx, "SELECT @@GLOBAL.event_scheduler"); err == nil && len(scheduler) == 1 && scheduler[0] != "ON" {
		said += ". Its event_scheduler is " + scheduler[0] + ": no event runs there until it is ON"
	}
	return said
}
