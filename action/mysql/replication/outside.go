package replication

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
	"plimsoll/hint"
)

// outside tells what a node has from servers that are none of its cluster, which it follows on channels of their own, as a replica for analytics does:
// no other node lacks that.
//
// It is left out only where it is certain that it came from there: the source is no node, of which each is known; the transactions are those of the
// source, or of a domain in which it writes; no node writes such, or has any, unless by such a channel too.
type outside struct {
	members
	node *server
	is   engine.ReplicationStatus
	main *engine.Source      // the one channel by which it follows the cluster; nil: there is none, or more than one
	of   map[string]holdings // of each node that answers; nil where the node follows one other
	held admin.GTIDSet       // what it has or has taken of its cluster, where that was asked
}

// holdings are what a node has, and whom it follows.
type holdings struct {
	has     admin.GTIDSet // of MariaDB by domain and server
	domain  string        // of MariaDB, in which it writes
	inside  []engine.Source
	beside  []engine.Source // surely servers outside of the cluster
	unclear []engine.Source // perhaps
	doubt   string          // about the latter
}

// followsOne tells whether a server follows at most one other, and not on a channel of a name.
func followsOne(is engine.ReplicationStatus) bool {
	return len(is.Sources) == 0 || len(is.Sources) == 1 && is.Sources[0].Channel == ""
}

func outsideOf(ctx context.Context, s *server, is engine.ReplicationStatus) (outside, error) {
	o := outside{node: s, is: is}
	if followsOne(is) {
		if len(is.Sources) == 1 {
			o.main = &is.Sources[0]
		}
		return o, nil
	}
	var err error
	if o.members, err = membersOf(ctx, s); err != nil {
		return o, err
	}
	o.of = map[string]holdings{}
	for _, p := range o.nodes {
		if !p.answers() {
			continue
		}
		if p.name == s.name() {
			p.is = is
		}
		if o.of[p.name], err = o.holdingsOf(ctx, s, p); err != nil {
			return o, err
		}
	}
	if inside := o.of[s.name()].inside; len(inside) == 1 {
		o.main = &inside[0]
	}
	return o, nil
}

// holdingsOf asks a node what it has, and sorts whom it follows.
func (m members) holdingsOf(ctx context.Context, s *server, p peer) (h holdings, err error) {
	for _, source := range p.is.Sources {
		switch node, doubt := m.whose(source); {
		case node != "":
			h.inside = append(h.inside, source)
		case doubt != "":
			h.unclear, h.doubt = append(h.unclear, source), fmt.Sprintf("whether %s is outside of the cluster is not certain: %s", source.Address, doubt)
		default:
			h.beside = append(h.beside, source)
		}
	}
	one, err := serverOf(ctx, s.on, p.name)
	if err != nil {
		return h, err
	}
	if !m.mariadb {
		h.has, err = one.received(ctx, p.is)
		return h, err
	}
	if h.domain, err = one.value(ctx, admin.Global("gtid_domain_id")); err != nil {
		return h, err
	}
	text, err := one.value(ctx, admin.MariaDB{}.WhoWroteWhat())
	if err != nil {
		return h, err
	}
	for _, source := range p.is.Sources {
		text += "," + source.Received
	}
	h.has, err = admin.ParsePositionSet(text, true)
	return h, err
}

// origin is whose a transaction is without what does not matter here: the tag in MySQL, the server in MariaDB.
func (m members) origin(of string) string {
	if m.mariadb {
		domain, _, _ := strings.Cut(of, "-")
		return domain
	}
	uuid, _, _ := strings.Cut(of, ":")
	return uuid
}

// named is an origin in words.
func (m members) named(origin string) string {
	if m.mariadb {
		return "domain " + origin
	}
	return "server_uuid " + origin
}

// writers are the servers that wrote in a domain of MariaDB, as far as a node knows.
func (h holdings) writers(domain string) (servers []string) {
	for _, of := range h.has.Origins() {
		if in, server, _ := strings.Cut(of, "-"); in == domain {
			servers = append(servers, server)
		}
	}
	return servers
}

// have tells whether there is any of an origin.
func (m members) have(set admin.GTIDSet, origin string) bool {
	return slices.ContainsFunc(set.Origins(), func(of string) bool { return m.origin(of) == origin })
}

// sends tells whether one of some sources, which a node follows, sends transactions of an origin.
func (m members) sends(h holdings, sources []engine.Source, origin string) bool {
	return slices.ContainsFunc(sources, func(source engine.Source) bool {
		if m.mariadb { // what it takes is told for all domains, whoever sends them
			return slices.Contains(h.writers(origin), m.identity(source))
		}
		taken, err := admin.ParseGTIDSet(source.Received)
		return m.identity(source) == origin || err == nil && m.have(taken, origin)
	})
}

// ofCluster says why transactions of an origin are those of the cluster too, as far as a node knows by itself; "" if they are not.
func (m members) ofCluster(h holdings, origin string) string {
	if !m.mariadb {
		switch {
		case m.who[origin] != "":
			return m.who[origin] + " has it"
		case m.sends(h, h.inside, origin):
			return h.inside[0].Address + " sends such too"
		}
		return ""
	}
	for _, server := range h.writers(origin) {
		if m.who[server] != "" {
			return m.who[server] + " writes such too"
		}
	}
	return ""
}

// shared says why transactions of an origin are those of the cluster too; "" if they are not.
func (o outside) shared(origin string) string {
	if why := o.ofCluster(o.of[o.node.name()], origin); why != "" {
		return why
	}
	for _, p := range o.nodes {
		h := o.of[p.name]
		switch {
		case h.domain == origin && o.mariadb:
			return "it is the gtid_domain_id of " + p.name
		case p.name != o.node.name() && o.have(h.has, origin) && (!o.sends(h, h.beside, origin) || o.ofCluster(h, origin) != ""):
			return p.name + " has such too"
		}
	}
	return ""
}

// writtenInside says which node writes in a domain of MariaDB, or would; "" if none does.
func (o outside) writtenInside(domain string) string {
	for _, p := range o.nodes {
		h := o.of[p.name]
		if why := o.ofCluster(h, domain); why != "" {
			return why
		}
		if h.domain == domain {
			return "it is the gtid_domain_id of " + p.name
		}
	}
	return ""
}

// judge tells whether the transactions of an origin came from outside. If not, and that is not certain either, it says why.
func (o outside) judge(origin string) (came bool, doubt string) {
	h := o.of[o.node.name()]
	beside, unclear := o.sends(h, h.beside, origin), o.sends(h, h.unclear, origin)
	switch shared := o.shared(origin); {
	case !o.mariadb && o.who[origin] != "", !beside && !unclear && (shared != "" || len(h.beside) == 0):
		return false, ""
	case shared != "":
		return false, shared
	case beside:
		return true, ""
	case unclear:
		return false, h.doubt
	}
	return false, "no channel shows that they came by it"
}

// trusting takes those for outside that are so unless they are nodes that do not answer, under addresses that nobody knows them by: for what promotes
// nobody, so that a run whose dead primary nobody follows any more can be resumed.
func (o outside) trusting() outside {
	all := map[string]holdings{}
	for name, h := range o.of {
		for _, source := range h.unclear {
			if o.identity(source) != "" {
				h.beside = append(slices.Clone(h.beside), source)
			}
		}
		h.unclear = nil
		all[name] = h
	}
	if o.of != nil {
		o.of = all
	}
	return o
}

// own is what of a set that the node has is the cluster's, or may be.
func (o outside) own(set admin.GTIDSet) admin.GTIDSet {
	if o.of == nil {
		return set
	}
	return set.Of(func(of string) bool {
		came, _ := o.judge(o.origin(of))
		return !came
	})
}

// refuseMixed refuses a MariaDB of which it cannot be told what it has of its cluster: a position is one number for all who write in a domain.
func (o outside) refuseMixed() error {
	if !o.mariadb || o.of == nil {
		return nil
	}
	h := o.of[o.node.name()]
	for _, of := range h.has.Origins() {
		domain := o.origin(of)
		if shared := o.writtenInside(domain); shared != "" && (o.sends(h, h.beside, domain) || o.sends(h, h.unclear, domain)) {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s replicates %s, and what it has of its cluster cannot be told from the rest: all of it is in domain %s (%s)", o.node.name(), channelsOf(o.is), domain, shared),
				Advice: o.withoutIt() + ". A gtid_domain_id of its own at every source keeps them apart",
			}
		}
	}
	return nil
}

// explain adds to the refusal for transactions that a node has and another lacks why they are not taken for those of a server outside.
func (o outside) explain(left admin.GTIDSet, refusal *hint.PermanentError) *hint.PermanentError {
	if o.of == nil {
		return refusal
	}
	var doubts []string
	for _, of := range left.Origins() {
		origin := o.origin(of)
		if _, doubt := o.judge(origin); doubt != "" && o.have(o.of[o.node.name()].has, origin) {
			doubts = append(doubts, fmt.Sprintf("%s: %s", o.named(origin), doubt))
		}
	}
	if len(doubts) == 0 {
		return refusal
	}
	advice := o.withoutIt()
	if len(o.unknown) > 0 {
		advice = fmt.Sprintf("start %s, or take it out of the cluster in the inventory if it is lost for good, and plan again. Or %s", strings.Join(o.unknown, " and "), advice)
	}
	return &hint.PermanentError{
		Reason: fmt.Sprintf("%s; %s replicates %s, and whether they came from outside of the cluster is not certain (%s)", refusal.Reason, o.node.name(), channelsOf(o.is), strings.Join(slices.Compact(doubts), "; ")),
		Advice: advice,
	}
}

// explainLack is explain for what another server lacks that is to be the primary: the node itself could be it if it followed its cluster alone.
func (o outside) explainLack(left admin.GTIDSet, refusal *hint.PermanentError) *hint.PermanentError {
	explained := o.explain(left, refusal)
	if explained != refusal || o.of == nil || o.main == nil || o.main.Channel != "" {
		return explained
	}
	var alone []string
	for _, source := range o.is.Sources {
		if source.Channel != "" {
			alone = append(alone, slices.Concat(o.node.dialect.Stop(source.Channel), o.node.dialect.Forget(source.Channel))...)
		}
	}
	return &hint.PermanentError{
		Reason: refusal.Reason,
		Advice: fmt.Sprintf("%s, which has them, can be the primary once it follows no other server: execute on it %s, and plan again; or copy the missing transactions from it", o.node.name(), strings.Join(alone, "; ")),
	}
}

// withoutIt is how a person goes on beside a node whose transactions cannot be told apart.
func (o outside) withoutIt() string {
	return fmt.Sprintf("look in the binary log of %[1]s for what only it has of this cluster, and carry that over. If a run has stopped at this, plimsoll runbook cancel RUN --leave REASON ends it. "+
		"Then take %[1]s out of the cluster in the inventory, and plan again. Afterwards execute on %[1]s: %[2]s; and put it back in", o.node.name(), o.byHand())
}

// byHand are the statements that make a node follow another primary by the channel by which it follows the cluster.
func (o outside) byHand() string {
	channel := "CHANNEL"
	if o.main != nil {
		channel = o.main.Channel
	}
	var all []string
	all = append(all, o.node.dialect.Stop(channel)...)
	all = append(all, o.node.dialect.Follow(channel, admin.Source{Host: "PRIMARY", Port: "3306"}))
	return strings.Join(append(all, o.node.dialect.Start(channel)...), "; ")
}

// follows is the channel by which the node follows its cluster, or is to: one that follows nobody has it without a name.
func (o outside) follows() (channel string, source engine.Source, err error) {
	switch {
	case o.main != nil:
		return o.main.Channel, *o.main, nil
	case len(o.is.Sources) == 0:
		return "", engine.Source{}, nil
	}
	why := "more than one of them is of the cluster"
	if h := o.of[o.node.name()]; len(h.inside) == 0 {
		why = "none of them is known to be of the cluster"
	}
	return "", engine.Source{}, &hint.PermanentError{
		Reason: fmt.Sprintf("%s replicates %s, and by which of them it follows the primary is not certain: %s", o.node.name(), channelsOf(o.is), why),
		Advice: fmt.Sprintf("execute on %s, with the name of the channel that followed the primary before: %s", o.node.name(), o.byHand()),
	}
}

// channelsOf is whom a server follows on which channel.
func channelsOf(is engine.ReplicationStatus) string {
	var from []string
	for _, source := range is.Sources {
		channel := "the default channel"
		if source.Channel != "" {
			channel = "channel " + source.Channel
		}
		from = append(from, fmt.Sprintf("from %s on %s", source.Address, channel))
	}
	return strings.Join(from, " and ")
}

// heldBy is what a node has or has taken of its cluster, and what it has beside.
func heldBy(ctx context.Context, s *server, is engine.ReplicationStatus) (outside, error) {
	o, err := outsideOf(ctx, s, is)
	if err != nil {
		return o, err
	}
	if err := o.refuseMixed(); err != nil {
		return o, err
	}
	all, err := s.received(ctx, is)
	if err != nil {
		return o, err
	}
	if o.of != nil && s.mariadb { // a position tells the last transaction of a domain alone, whoever wrote it
		text, err := s.value(ctx, admin.MariaDB{}.WhoWroteWhat())
		if err != nil {
			return o, err
		}
		written, err := admin.ParsePositionSet(text, false)
		if err != nil {
			return o, err
		}
		all = all.With(written)
	}
	o.held = o.own(all)
	return o, nil
}
