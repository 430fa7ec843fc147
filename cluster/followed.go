package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
)

// partTime is how long the nodes of a cluster may take to say which parts they play.
const partTime = 5 * time.Second

// partOf is what a node says of its part in replication; nil if it does not answer or plays none.
func partOf(ctx context.Context, on *Cluster, node string) *engine.ReplicationStatus {
	if on.Engine == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, partTime)
	defer cancel()
	db, err := on.Database(ctx, node)
	if err != nil {
		return nil
	}
	r, ok := engine.As[engine.Replicated](db)
	if !ok {
		return nil
	}
	is, err := r.ReplicationStatus(ctx)
	if err != nil {
		return nil
	}
	return &is
}

// RefusesWrites tells whether a node refuses the writes of ordinary users; known is false if it does not answer, or plays no part.
func (s *Cluster) RefusesWrites(ctx context.Context, node string) (refuses, known bool) {
	if is := partOf(ctx, s, node); is != nil {
		return is.ReadOnly, true
	}
	return false, false
}

// OtherPrimary names a node that takes writes and is followed by others, if this one says that it is a primary too: it has been
// replaced. A replica that is not connected just now follows all the same. Servers that have nothing to do with one another follow nobody.
// Empty: there is none.
func (s *Cluster) OtherPrimary(ctx context.Context, node string) (string, error) {
	if !s.Leads(ctx, node) {
		return "", nil
	}
	nodes, err := s.List(ctx)
	if err != nil {
		return "", fmt.Errorf("list the nodes of %s: %w", s.Name, err)
	}
	parts := map[string]*engine.ReplicationStatus{}
	for _, n := range nodes {
		if is := partOf(ctx, s, n.Name); is != nil && n.Name != node {
			parts[n.Name] = is
		}
	}
	for _, n := range nodes {
		is := parts[n.Name]
		if is == nil || !is.Primary() {
			continue
		}
		if is.Followers > 0 || followedByOneOf(parts, n, is.ServerID) {
			return n.Name, nil
		}
	}
	return "", nil
}

// followedByOneOf tells whether one of some servers replicates from a node, connected or not.
func followedByOneOf(parts map[string]*engine.ReplicationStatus, n Node, serverID string) bool {
	for _, is := range parts {
		for _, source := range is.Sources {
			sameNumber := serverID != "" && serverID != "0" && serverID == source.ServerID
			if sameNumber || len(n.Target.Addresses) > 0 && source.Address == n.Target.Addresses[0] {
				return true
			}
		}
	}
	return false
}

// Leads tells whether a node says that it is the primary of servers that play different parts.
func (s *Cluster) Leads(ctx context.Context, node string) bool {
	if s.roles == nil {
		return false
	}
	is := partOf(ctx, s, node)
	return is != nil && is.Primary()
}

// SpareOfNobody tells whether a node is a spare server that no node follows: it is no primary, though it takes writes.
func SpareOfNobody(ctx context.Context, on *Cluster, node string) bool {
	at := slices.IndexFunc(on.Spares, func(n Node) bool { return n.Name == node })
	is := partOf(ctx, on, node)
	if at < 0 || is == nil || is.Followers > 0 {
		return false
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return false
	}
	parts := map[string]*engine.ReplicationStatus{}
	for _, n := range nodes {
		if n.Name == node {
			return false
		}
		if part := partOf(ctx, on, n.Name); part != nil {
			parts[n.Name] = part
		}
	}
	return !followedByOneOf(parts, on.Spares[at], is.ServerID)
}

// MayGo refuses to remove a server that is the primary, that others follow, or that a ring counts as a member.
func (s *Cluster) MayGo(ctx context.Context, node string) error {
	if s.roles == nil {
		return nil
	}
	nodes, err := s.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes of %s: %w", s.Name, err)
	}
	var own *engine.ReplicationStatus
	var addresses []string
	others := 0
	for _, n := range nodes {
		if n.Name == node {
			own, addresses = partOf(ctx, s, node), n.Target.Addresses
		} else {
			others++
		}
	}
	if len(addresses) == 0 || others == 0 {
		return nil
	}
	if err := leftRing(ctx, s, nodes, node, addresses); err != nil {
		return err
	}
	if own != nil && own.Primary() && own.Followers > 0 {
		return &hint.PermanentError{Reason: node + " is the primary, and cannot be removed", Advice: fmt.Sprintf("make another node the primary first: plimsoll runbook plan mysql/switchover --cluster %s -i to=NODE", hint.Quoted(s.Name))}
	}
	for _, n := range nodes {
		if n.Name == node {
			continue
		}
		is := partOf(ctx, s, n.Name)
		if is == nil {
			continue
		}
		for _, source := range is.Sources {
			sameNumber := own != nil && own.ServerID != "" && own.ServerID != "0" && own.ServerID == source.ServerID
			if source.Address == addresses[0] || sameNumber {
				return &hint.PermanentError{Reason: fmt.Sprintf("%s replicates from %s, and cannot be removed", n.Name, node),
					Advice: fmt.Sprintf("point %s to another source first, with mysql.replicate", n.Name)}
			}
		}
	}
	return nil
}

// Succeeded refuses to let a server take writes again while another node is the primary.
func Succeeded(ctx context.Context, on *Cluster, node string) error {
	_, err := led(ctx, on, node)
	return err
}

// led is Succeeded, and tells whether it is known which node is the primary.
func led(ctx context.Context, on *Cluster, node string) (known bool, err error) {
	if on.roles == nil {
		return true, nil
	}
	on.RolesChanged()
	primary, err := on.Primary(ctx)
	switch {
	case err != nil:
		return false, nil //nolint:nilerr // no node says that it is
	case primary.Name == node:
		return true, nil
	}
	return true, &hint.PermanentError{Reason: fmt.Sprintf("%s is the primary now: %s would come back as a second primary", primary.Name, node),
		Advice: fmt.Sprintf("start it read-only by hand, then plimsoll runbook plan mysql/rejoin --cluster %s -i node=%s", hint.Quoted(on.Name), hint.Quoted(node))}
}

// Replaced refuses to let a server take writes again that was the primary before, when it has, or may have, a successor: it would be a second
// primary. A node that does not answer may be the successor if another node follows it; when the process that took the writes from the server
// has ended since, that it does not answer is enough.
func Replaced(ctx context.Context, on *Cluster, node string, resumed bool) error {
	if known, err := led(ctx, on, node); known || err != nil {
		return err
	}
	nodes, err := on.List(ctx)
	if err != nil {
		return fmt.Errorf("list the nodes of %s: %w", on.Name, err)
	}
	parts, silent := map[string]*engine.ReplicationStatus{}, []Node(nil)
	for _, n := range nodes {
		if n.Name == node {
			continue
		}
		if is := partOf(ctx, on, n.Name); is != nil {
			parts[n.Name] = is
		} else {
			silent = append(silent, n)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, n := range silent {
		switch {
		case resumed:
			return &hint.PermanentError{Reason: fmt.Sprintf("%s does not answer, and may have become the primary after the process that stopped %s had ended", n.Name, node),
				Advice: fmt.Sprintf("start %s and try again; if it is lost for good, remove it from the cluster and try again; or, if you know that no other node took its place, start %s by hand, then undo again", n.Name, node)}
		case followedByOneOf(parts, n, ""):
			return &hint.PermanentError{Reason: fmt.Sprintf("%s does not answer, is followed by another node and may be the primary: %s would be a second one", n.Name, node),
				Advice: fmt.Sprintf("start %s, and find out which of the two accepts writes; or, if you know that no other node took its place, start %s by hand, then undo again", n.Name, node)}
		}
	}
	return nil
}
