package cluster

import (
	"context"
	"fmt"

	"plimsoll/hint"
)

// Cluster returns another cluster of the run; without a name, or with its own, this one. It is closed with this one.
func (s *Cluster) Cluster(ctx context.Context, name string) (*Cluster, error) {
	if name == "" || name == s.Name {
		return s, nil
	}
	if s.hub != nil {
		return s.hub.Cluster(ctx, name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if peer := s.peers[name]; peer != nil {
		return peer, nil
	}
	if s.Others == nil {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("the run has not locked cluster %s", name), Advice: "name it in an input of type cluster"}
	}
	peer, err := s.Others(ctx, name)
	if err != nil {
		return nil, err
	}
	peer.hub = s
	if s.peers == nil {
		s.peers = map[string]*Cluster{}
	}
	s.peers[name] = peer
	return peer, nil
}
