package channel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var addChannel = action.Action{
	Name: "mysql.channel", Version: 1,
	About: "Adds a source to a replica on a replication channel of its own, filtered to some databases, starting where mysql.seed copied them.",
	New:   func() action.Task { return &link{} },
}

type link struct {
	Source    string   `yaml:"source,required" doc:"The source to replicate from."`
	Node      string   `yaml:"node,required" doc:"The node that becomes the replica."`
	Name      string   `yaml:"name,required" doc:"The channel's name (in MariaDB, the connection's)."`
	Databases []string `yaml:"databases,required" doc:"The databases that the channel replicates."`
}

var (
	_ action.Undoer    = (*link)(nil)
	_ action.Validator = (*link)(nil)
)

var channelName = regexp.MustCompile(`^[a-z0-9_]{1,60}$`)

func (l *link) Validate() error {
	switch {
	case !channelName.MatchString(l.Name):
		return fmt.Errorf("name %q, expected lower-case letters, digits and _", l.Name)
	case len(l.Databases) == 0:
		return errors.New("no databases")
	}
	for _, database := range l.Databases {
		if strings.ContainsAny(database, ",:` '") {
			return fmt.Errorf("database %q cannot be named in a replication filter", database)
		}
	}
	return nil
}

func (l *link) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (l *link) databases() []string {
	all := slices.Clone(l.Databases)
	slices.Sort(all)
	return all
}

func (l *link) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	source, replica, err := pair(ctx, on, l.Source, l.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	defer closeAll(source, replica)
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"follows": "no server"},
		Intended: action.Facts{"follows": source.address(), "databases": strings.Join(l.databases(), ", ")},
	}
	c, err := replica.state(ctx, l.Name)
	if err != nil || c == nil {
		return f, err
	}
	f.Observed["follows"], f.Observed["databases"] = c.Source, strings.Join(c.Databases, ", ")
	if c.Source != source.address() {
		return f, &hint.PermanentError{Reason: fmt.Sprintf("channel %s of %s follows %s", l.Name, replica.name, c.Source), Advice: "give it another name"}
	}
	if _, is := replica.Dialect.(admin.MariaDB); !c.Runs() || is && !c.GTID {
		f.Observed["runs"], f.Intended["runs"], f.Reason = false, true, c.Error
		return f, nil
	}
	_, all := replica.Dialect.(admin.RDS) // which lets through all that its source has: givesOnlyDatabases
	if slices.Equal(c.Databases, l.databases()) || all && len(c.Databases) == 0 {
		f.State = action.Satisfied
	}
	return f, nil
}

func (l *link) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	source, replica, err := pair(ctx, on, l.Source, l.Node)
	if err != nil {
		return nil, err
	}
	defer closeAll(source, replica)
	c, err := replica.state(ctx, l.Name)
	if err != nil {
		return nil, err
	}
	if c == nil {
		if err := l.begin(ctx, source, replica); err != nil {
			return nil, err
		}
	} else if err := replica.order(ctx, "stop the channel", replica.Stop(l.Name)...); err != nil {
		return nil, err
	}
	if err := replica.order(ctx, "set the filter", replica.Filter(l.Name, l.databases())...); err != nil {
		return nil, err
	}
	if err := l.keep(ctx, replica, l.databases()); err != nil {
		return nil, err
	}
	call.Progress(0.3, "starting")
	if err := replica.run(ctx, l.Name); err != nil {
		return nil, err
	}
	call.Progress(0.5, "catching up")
	if err := beginsByGTID(ctx, replica, source, l.Name); err != nil {
		return nil, err
	}
	at, err := replica.state(ctx, l.Name)
	if err != nil || at == nil {
		return nil, errors.Join(err, fmt.Errorf("%s has no channel %q any more", replica.name, l.Name))
	}
	key, value := replica.FilterOption(l.Name, l.databases())
	return action.Facts{"option_file": key + " = " + value}, awaitLevel(ctx, replica, source, *at) // one that began at a place lacks the GTIDs before it
}

// begin makes the channel, from where the databases were copied.
func (l *link) begin(ctx context.Context, source, replica *server) error {
	if _, is := replica.Dialect.(admin.RDS); is {
		if err := givesOnlyDatabases(ctx, source, l.Databases); err != nil {
			return err
		}
	}
	rows, err := seedsOf(ctx, replica, l.Databases)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.source != source.address() || row.state != done || row.gtids != rows[0].gtids {
			rows = nil
			break
		}
	}
	if len(rows) != len(l.Databases) {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s were not copied from %s to %s at one common position", strings.Join(l.Databases, ", "), source.name, replica.name),
			Advice: "copy them first: mysql.seed",
		}
	}
	from, err := source.origin()
	if err != nil {
		return err
	}
	if from.Place, err = beginsAt(ctx, replica, source, rows[0]); err != nil {
		return err
	}
	if from.Place != (admin.Place{}) {
		if err := source.holds(ctx, from.Place); err != nil {
			return err
		}
	}
	return replica.follow(ctx, source, l.Name, from)
}

// beginsAt makes the replica know what it has of a source, so that a channel goes on after it. Where that cannot be said while
// other channels run, it is the place in the binary log to begin at instead.
func beginsAt(ctx context.Context, s *server, source *server, copied seedRow) (admin.Place, error) {
	if _, is := s.Dialect.(admin.MariaDB); is {
		return beginsAtPlace(ctx, s, copied)
	}
	if _, is := s.Dialect.(admin.RDS); is {
		return copied.place, nil // its administrator may not say what it has
	}
	lacking, err := s.value(ctx, admin.MySQL{}.Lacking(copied.gtids))
	if err != nil {
		return admin.Place{}, err
	}
	if lacking != "" && admin.VersionOf(s.facts.Version).Less(admin.Version{8, 0, 0}) {
		return copied.place, nil // 5.7 can say what it has only while it has nothing
	}
	has, err := s.value(ctx, s.Position())
	if err != nil {
		return admin.Place{}, err
	}
	purged, err := source.value(ctx, admin.MySQL{}.PurgedBeyond(has, copied.gtids))
	switch {
	case err != nil:
		return admin.Place{}, err
	case purged != "":
		return admin.Place{}, &hint.PermanentError{
			Reason: fmt.Sprintf("%s has purged binary logs since its databases were copied: %s", source.name, purged), Advice: "copy again, with mysql.keep-binlogs before it",
		}
	case lacking == "":
		return admin.Place{}, nil
	}
	return admin.Place{}, s.order(ctx, "record what was copied", admin.MySQL{}.AddPurged(lacking))
}

// beginsAtPlace is the place of a copy, unless the replica has gone on from there before.
func beginsAtPlace(ctx context.Context, s *server, copied seedRow) (admin.Place, error) {
	has, err := s.gtids(ctx, admin.MariaDB{}.Replicated())
	if err != nil {
		return admin.Place{}, err
	}
	at, err := admin.ParsePosition(copied.gtids)
	if err != nil {
		return admin.Place{}, err
	}
	if mine, known := has[copied.domain]; known && mine.Number >= at[copied.domain].Number {
		return admin.Place{}, nil
	}
	return copied.place, nil
}

// beginsByGTID makes a channel that began at a place find its place by GTID from now on. MariaDB knows the source's GTIDs once the
// channel has made a change; an idle source is brought to write one that changes nothing.
func beginsByGTID(ctx context.Context, s *server, source *server, channel string) error {
	c, err := s.state(ctx, channel)
	if err != nil || c == nil || c.GTID {
		return err
	}
	if _, is := s.Dialect.(admin.MariaDB); !is {
		return nil // MySQL 5.7 stays with the place
	}
	if err := source.do(ctx, "write a change", admin.WriteNothing); err != nil {
		return err
	}
	end, err := source.end(ctx)
	if err != nil {
		return err
	}
	if err := s.until(ctx, channel, "it is behind its source", func(c admin.Channel) bool { return c.Done.Reached(end) }); err != nil {
		return err
	}
	domain, err := source.variable(ctx, "gtid_domain_id")
	if err != nil {
		return err
	}
	has, err := s.gtids(ctx, admin.MariaDB{}.Replicated())
	if err != nil {
		return err
	}
	if _, known := has[domain]; !known {
		return fmt.Errorf("channel %s has applied changes, and %s does not know their GTIDs (it knows %s)", channel, s.name, has)
	}
	if err := s.order(ctx, "continue by GTID", append(s.Stop(channel), admin.MariaDB{}.FollowByGTID(channel))...); err != nil {
		return err
	}
	return s.run(ctx, channel)
}

// keep writes the filter where it lasts over a restart, if the server's settings can be reached from here; else the step's
// output says what is to be written into its option file. No databases takes it out.
func (l *link) keep(ctx context.Context, replica *server, databases []string) error {
	n, err := replica.on.Node(ctx, replica.node)
	if err != nil {
		return err
	}
	settings, ok := cluster.As[cluster.Assignable](n.Server)
	if !ok {
		return nil
	}
	own, err := settings.Assigned(ctx)
	if err != nil {
		return err
	}
	key, value := replica.FilterOption(l.Name, databases)
	if own == nil {
		own = map[string]string{}
	}
	if own[key] = merged(own[key], l.Name, value); own[key] == "" {
		delete(own, key)
	}
	return settings.Assign(ctx, own)
}

// merged puts a channel's filter in the place of what it had, among those of others; in MySQL they stand in one option.
func merged(before, channel, value string) string {
	var all []string
	for one := range strings.SplitSeq(before, ",") {
		if of, _, together := strings.Cut(one, ":"); together && of != channel {
			all = append(all, one)
		}
	}
	if value != "" {
		all = append(all, value)
	}
	return strings.Join(all, ",")
}

// Undo forgets the channel. What it has replicated stays, as does the server's knowledge of it. One that follows another by now is not ours.
func (l *link) Undo(ctx context.Context, on *cluster.Cluster, _ action.Call) error {
	replica, err := dial(ctx, on, l.Node)
	if err != nil {
		return err
	}
	defer replica.Close()
	if err := replica.refuseOthers(ctx, on, l.Name, l.Source); err != nil {
		return err
	}
	if err := replica.drop(ctx, l.Name); err != nil {
		return err
	}
	return l.keep(ctx, replica, nil)
}
