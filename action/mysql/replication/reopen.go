package replication

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/hint"
)

// mayReopen refuses to open a server to writes again when another may have taken its place: another node takes writes, the
// server follows a node of its cluster, or a node follows one that does not answer, by whichever address. A node that does not
// answer says nothing; when the process that closed the server is gone, others may have promoted that node meanwhile, and it is
// waited for.
func (s *server) mayReopen(ctx context.Context, resumed bool) error {
	is, err := s.status(ctx)
	if err != nil {
		return err
	}
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	for _, o := range others {
		switch {
		case o.writable() && o.stands() && !slices.ContainsFunc(o.is.Sources, func(source engine.Source) bool { return s.isSource(source, is.ServerID) }): // that of another primary
			return &hint.PermanentError{Reason: fmt.Sprintf("%s accepts writes%s: %s might become a second primary", o.name, o.despite(), s.name()),
				Advice: fmt.Sprintf("if %[1]s is the primary now, leave %[2]s read-only, and make %[1]s replicate from no server: mysql/promote -i node=%[1]s; then mysql/rejoin -i node=%[2]s. "+
					"If not, make %[1]s read-only, "+closing+", and try again", o.name, s.name())}
		case o.leads():
			return &hint.PermanentError{Reason: fmt.Sprintf("%s accepts writes: %s would be a second primary", o.name, s.name()),
				Advice: "leave it read-only; mysql/rejoin -i node=" + s.name() + " makes it a replica of " + o.name}
		case !o.answers() && resumed:
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s does not answer, and may have become the primary after the process that made %s read-only had ended", o.name, s.name()),
				Advice: fmt.Sprintf("start %s and try again; if it is lost for good, remove it from the cluster and try again", o.name),
			}
		}
	}
	if of := leader(is, others); of != nil {
		return &hint.PermanentError{Reason: fmt.Sprintf("%s replicates from %s now: it is a replica", s.name(), of.name), Advice: "leave it read-only"}
	}
	for _, o := range others {
		of, called := leader(o.is, others), ""
		if of == nil {
			of, called = unnamedLeader(s, is, o, others)
		}
		if of != nil && !of.answers() {
			return &hint.PermanentError{
				Reason: fmt.Sprintf("%s replicates from %s%s, which does not answer and may be the primary: %s would be a second one", o.name, called, of.name, s.name()),
				Advice: fmt.Sprintf("start %s, and find out which of the two accepts writes", of.name),
			}
		}
	}
	return nil
}

// leader is the node among others that a server follows; nil if it follows none of them.
func leader(is engine.ReplicationStatus, others []peer) *peer {
	for _, source := range is.Sources {
		if of := followed(source, others); of != nil {
			return of
		}
	}
	return nil
}

// followed is the node that a source is, by its address or, where it answers, by its number; nil if it is none of them. A replica may
// know a node by another address than we do.
func followed(source engine.Source, nodes []peer) *peer {
	for n, o := range nodes {
		sameNumber := o.answers() && o.is.ServerID != "" && o.is.ServerID != "0" && o.is.ServerID == source.ServerID
		if o.address == source.Address || sameNumber {
			return &nodes[n]
		}
	}
	return nil
}

// mayBeSilent tells whether a source that a replica is connected to may be a node that does not answer us: it is none that is known by
// its address or its number. A named channel beside others may well come from outside of the cluster.
func mayBeSilent(source engine.Source, of engine.ReplicationStatus, nodes []peer) bool {
	return source.Receives && (source.Channel == "" || len(of.Sources) == 1) && followed(source, nodes) == nil
}

// unnamedLeader is a node that does not answer, and which another node may be connected to under an address that we do not know it by,
// and what to call it; nil if there is none.
func unnamedLeader(s *server, is engine.ReplicationStatus, o peer, others []peer) (of *peer, called string) {
	for _, source := range o.is.Sources {
		if s.isSource(source, is.ServerID) || !mayBeSilent(source, o.is, others) {
			continue
		}
		for n := range others {
			if !others[n].answers() {
				return &others[n], source.Address + ", perhaps "
			}
		}
	}
	return nil, ""
}

// reopens tells whether a mode lets clients write.
func (m mode) reopens() bool { return m[modeNow] == "0" }

// mayClose refuses to take the writes from a server that has become the primary since it was looked at: nobody would take them.
func (s *server) mayClose(ctx context.Context) error {
	is, err := s.status(ctx)
	if err != nil || !is.Primary() {
		return err
	}
	return &hint.PermanentError{Reason: fmt.Sprintf("%s has become the primary since: no node would accept writes", s.name()),
		Advice: "leave it as it is: plimsoll runbook cancel RUN --leave REASON; mysql/switchover -i to=NODE makes another node the primary"}
}

// mayFollowAgain refuses to send a server back to a source that is no longer what it was: the cluster has another primary by
// now, or the two have gone apart. A source outside of the cluster is not judged.
func (s *server) mayFollowAgain(ctx context.Context, address string) error {
	others, err := s.peers(ctx)
	if err != nil {
		return err
	}
	var before *peer
	for n := range others {
		if others[n].address == address {
			before = &others[n]
		}
	}
	if before == nil {
		return nil
	}
	if !before.answers() {
		return fmt.Errorf("%s replicated from %s, which does not answer: %w", s.name(), before.name, before.silent)
	}
	for _, o := range others {
		if o.answers() && o.is.Primary() && !before.is.Primary() && len(before.is.Sources) == 0 {
			return &hint.PermanentError{Reason: fmt.Sprintf("%s replicated from %s, which is no longer the primary: %s is", s.name(), before.name, o.name),
				Advice: fmt.Sprintf("make it replicate from %s, with mysql.replicate", o.name)}
		}
	}
	source, err := serverOf(ctx, s.on, before.name)
	if err != nil {
		return err
	}
	return link{s, source}.mayBegin(ctx)
}

// restoreMode puts back whether a server took writes. One that did stays closed while another node takes them: it says so.
func (s *server) restoreMode(ctx context.Context, before action.Facts, tell func(float64, string)) error {
	m := modeBefore(before)
	if m.reopens() {
		var refused *hint.PermanentError
		if err := s.mayReopen(ctx, false); errors.As(err, &refused) {
			tell(-1, "it stays read-only: "+refused.Reason)
			return setMode(ctx, s, s.refusing())
		} else if err != nil {
			return err
		}
	}
	return setMode(ctx, s, m)
}

// modeBefore is the mode in the facts of a replica, which say as true or false whether it refused writes.
func modeBefore(before action.Facts) mode {
	m := modeIn(before)
	if now, ok := before[modeNow].(bool); ok {
		m[modeNow] = map[bool]string{true: "1", false: "0"}[now]
	}
	return m
}

// MayTakeWrites refuses to have a node take writes when the cluster has, or may have, another primary.
func MayTakeWrites(ctx context.Context, on *cluster.Cluster, node string, c action.Call) error {
	s, err := serverOf(ctx, on, node)
	if err != nil {
		return err
	}
	return s.mayReopen(ctx, c.Resumed)
}
