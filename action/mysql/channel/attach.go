package channel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

var attach = action.Action{
	Name: "mysql.attach", Version: 1,
	About: "Attaches a server that holds a copy of the source's data as its replica, starting where the copy ends, and waits until it has caught up.",
	New:   func() action.Task { return &attachment{Position: recovered, ReadOnly: true} },
}

// attachment is a replica that begins with a copy.
type attachment struct {
	Source   string `yaml:"source,required" doc:"The source to replicate from."`
	Node     string `yaml:"node,required" doc:"The node that becomes the replica."`
	Channel  string `yaml:"channel" doc:"The channel's name. Default: the one without a name."`
	ReadOnly bool   `yaml:"read_only" doc:"Whether the replica is made read-only. Default true."`
	Position string `yaml:"position" doc:"recovered: by GTID, from where crash recovery found the end of the data; or FILE:POS in the source's binary log, as crash recovery printed it where there are no GTIDs. Default recovered."`
}

const recovered = "recovered"

var (
	_ action.Undoer    = (*attachment)(nil)
	_ action.Validator = (*attachment)(nil)
)

var placeText = regexp.MustCompile(`^([^\s:']+):(\d+)$`)

func (a *attachment) Validate() error {
	if a.Position != recovered && !placeText.MatchString(a.Position) {
		return fmt.Errorf("position %q, expected recovered, or FILE:POS such as mysql-bin-changelog.001102:70375984", a.Position)
	}
	return nil
}

func (a *attachment) place() admin.Place {
	m := placeText.FindStringSubmatch(a.Position)
	if m == nil {
		return admin.Place{}
	}
	return admin.Place{File: m[1], At: m[2]}
}

func (a *attachment) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

func (a *attachment) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	source, replica, err := pair(ctx, on, a.Source, a.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	defer closeAll(source, replica)
	still, err := replica.readOnly(ctx)
	if err != nil {
		return action.CheckResult{}, err
	}
	writable, err := otherWriters(ctx, on, a.Source, a.Node)
	if err != nil {
		return action.CheckResult{}, err
	}
	if _, is := replica.Dialect.(admin.RDS); is {
		a.ReadOnly = false // its parameter group says who may write
	}
	f := action.CheckResult{
		State:    action.Needed,
		Observed: action.Facts{"follows": "nobody", "read_only": still, othersOpen: strings.Join(writable, ", ")},
		Intended: action.Facts{"follows": source.address(), "read_only": still || a.ReadOnly},
	}
	if err := a.fits(ctx, source, replica); err != nil {
		return f, err
	}
	c, err := replica.state(ctx, a.Channel)
	switch {
	case err != nil:
		return f, err
	case c == nil && a.place() != admin.Place{}:
		return f, source.holds(ctx, a.place())
	case c == nil:
		return f, nil
	case c.Source != source.address():
		return f, &hint.PermanentError{
			Reason: fmt.Sprintf("channel %q of %s follows %s", a.Channel, replica.name, c.Source), Advice: "name another channel, or remove that one",
		}
	}
	f.Observed["follows"] = c.Source
	switch {
	case c.Runs() && (still || !a.ReadOnly):
		f.State = action.Satisfied
	case c.Runs():
		f.Reason = "it accepts writes"
	default:
		f.Observed["runs"], f.Intended["runs"], f.Reason = false, true, c.Error
	}
	return f, nil
}

func (a *attachment) fits(ctx context.Context, source, replica *server) error {
	s, err := profileOf(ctx, source)
	if err != nil {
		return err
	}
	r, err := profileOf(ctx, replica)
	if err != nil {
		return err
	}
	return fits(s, r, a.place() != admin.Place{})
}

func (a *attachment) Act(ctx context.Context, on *cluster.Cluster, call action.Call) (action.Facts, error) {
	source, replica, err := pair(ctx, on, a.Source, a.Node)
	if err != nil {
		return nil, err
	}
	defer closeAll(source, replica)
	if err := a.fits(ctx, source, replica); err != nil {
		return nil, err
	}
	if _, is := replica.Dialect.(admin.RDS); is {
		a.ReadOnly = false
	}
	from, err := recoveryOf(ctx, replica)
	if err != nil {
		return nil, err
	}
	c, err := replica.state(ctx, a.Channel)
	if err != nil {
		return nil, err
	}
	if c == nil { // else its place is set: that comes first
		if err := a.begin(ctx, source, replica); err != nil {
			return nil, err
		}
	}
	if a.ReadOnly {
		if err := replica.refuse(ctx); err != nil {
			return nil, err
		}
	}
	call.Progress(0.3, "starting")
	if err := replica.run(ctx, a.Channel); err != nil {
		return nil, err
	}
	call.Progress(0.5, "catching up")
	return from.facts(), a.catchUp(ctx, source, replica)
}

// catchUp waits until the replica has what the source had when it was asked.
func (a *attachment) catchUp(ctx context.Context, source, replica *server) error {
	return awaitLevel(ctx, replica, source, admin.Channel{Name: a.Channel, GTID: a.place() == admin.Place{}})
}

// begin sets where a channel begins, and makes it.
func (a *attachment) begin(ctx context.Context, source, replica *server) error {
	from, err := source.origin()
	if err != nil {
		return err
	}
	if from.Place = a.place(); from.Place == (admin.Place{}) {
		err = adoptCopy(ctx, replica, source)
	} else {
		err = source.holds(ctx, from.Place)
	}
	if err != nil {
		return err
	}
	return replica.follow(ctx, source, a.Channel, from)
}

// adoptCopy makes the changes that a copy has those that its server has replicated, after it has proved that they are a part of
// the source's, and that the source still has all that follow.
func adoptCopy(ctx context.Context, s *server, source *server) error {
	if _, is := s.Dialect.(admin.MariaDB); is {
		return adoptDomains(ctx, s, source)
	}
	has, err := s.value(ctx, s.Position())
	if err != nil {
		return err
	}
	errant, err := source.value(ctx, admin.MySQL{}.Lacking(has))
	if err != nil {
		return err
	}
	purged, err := source.value(ctx, admin.MySQL{}.PurgedBeyond(has))
	if err != nil {
		return err
	}
	switch {
	case has == "":
		return refuseWithoutCopy(s, source)
	case errant != "":
		return refuseErrant(s, source, errant)
	case purged != "":
		return &hint.PermanentError{
			Reason: fmt.Sprintf("%s has purged binary logs that %s needs: %s", source.name, s.name, purged),
			Advice: "start again with a newer copy, with mysql.keep-binlogs before it",
		}
	}
	return nil
}

func refuseWithoutCopy(s *server, source *server) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("node %s has no data of %s", s.name, source.name), Advice: "restore a snapshot of it first: mysql.restore-snapshot",
	}
}

func refuseErrant(s *server, source *server, which string) error {
	return &hint.PermanentError{
		Reason: fmt.Sprintf("node %s has transactions that %s never had: %s", s.name, source.name, which),
		Advice: "it is not a copy, or was written to after the copy: restore a snapshot again",
	}
}

// adoptDomains is adopt for MariaDB, where a source tells by itself, when the channel starts, that it has purged something.
func adoptDomains(ctx context.Context, s *server, source *server) error {
	replicated, err := s.gtids(ctx, admin.MariaDB{}.Replicated())
	if err != nil {
		return err
	}
	copied, err := s.gtids(ctx, s.Position())
	if err != nil {
		return err
	}
	theirs, err := source.gtids(ctx, source.Position())
	if err != nil {
		return err
	}
	wanted := replicated.Latest(copied)
	if len(wanted) == 0 {
		return refuseWithoutCopy(s, source)
	}
	for domain, mine := range wanted {
		if mine.Number > theirs[domain].Number {
			return refuseErrant(s, source, admin.Position{domain: mine}.String())
		}
	}
	if wanted.String() == replicated.String() {
		return nil
	}
	others, err := s.states(ctx)
	if err != nil {
		return err
	}
	for _, c := range others {
		if c.Receiving || c.Applying || c.Connects {
			return fmt.Errorf("set the start position of %s: %w", s.name, errors.New("channel "+c.Name+" is running, and MariaDB needs all channels stopped for this"))
		}
	}
	return s.do(ctx, "set where replication begins", admin.MariaDB{}.SetReplicated(wanted))
}

// Undo forgets the channel. What it has replicated stays, and so does the server's knowledge of it: attached again, it goes
// on from there. A channel that follows another by now is not ours, and a server that took writes before stays closed where that would
// make it a second primary.
func (a *attachment) Undo(ctx context.Context, on *cluster.Cluster, call action.Call) error {
	replica, err := dial(ctx, on, a.Node)
	if err != nil {
		return err
	}
	defer replica.Close()
	if err := replica.refuseOthers(ctx, on, a.Channel, a.Source); err != nil {
		return err
	}
	if err := replica.drop(ctx, a.Channel); err != nil {
		return err
	}
	before, known := call.Before["read_only"].(bool)
	if !known || before || !a.ReadOnly {
		return nil
	}
	switch why, err := a.closed(ctx, on, replica, call.Before); {
	case err != nil:
		return err
	case why != "":
		call.Progress(-1, replica.name+" stays read-only: "+why)
		return nil
	}
	return replica.release(ctx)
}

// refuseOthers refuses to forget a channel that others have sent to another source since.
func (s *server) refuseOthers(ctx context.Context, on *cluster.Cluster, channel, source string) error {
	c, err := s.state(ctx, channel)
	if err != nil {
		return err
	}
	address, err := addressOf(ctx, on, source)
	if err != nil || c == nil || c.Source == address {
		return err
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s replicates from %s now, not from %s: it is not detached", s.name, c.Source, source),
		Advice: "somebody changed it after this run; find out who, and leave it as it is"}
}

// closed says why a server that took writes before must not take them again; "" if it may.
func (a *attachment) closed(ctx context.Context, on *cluster.Cluster, replica *server, before action.Facts) (string, error) {
	others, err := replica.states(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range others {
		return fmt.Sprintf("it replicates from %s on channel %q", c.Source, c.Name), nil
	}
	node, err := newWriter(ctx, on, before, a.Source, a.Node)
	if err != nil || node == "" {
		return "", err
	}
	return node + " accepts writes now, and did not before", nil
}
