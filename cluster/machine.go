package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/disk"
)

// Host is a node's machine as its provider has it: an instance of EC2, a machine of a lab.
type Host interface {
	// ID is what the provider of the cluster's volumes calls it.
	ID(ctx context.Context) (string, error)
	// Running tells whether it may still write anything. infra.ErrNoMachine if the provider shows no such machine, which proves nothing.
	Running(ctx context.Context) (bool, error)
	// Kill ends it as the loss of its host would, and returns when it is seen to have ended.
	Kill(ctx context.Context) error
}

// Zoned is a Host at a provider with several zones, between which no volume moves.
type Zoned interface {
	Zone(ctx context.Context) (string, error)
}

// FaultProneHost is a Host that can be lost and started, and suffer: in a lab.
type FaultProneHost interface {
	Host
	// NetworkCut tells whether it is cut off.
	NetworkCut(ctx context.Context) (bool, error)
	// Skew is how far its clock is before ours, negative when it is behind.
	Skew(ctx context.Context) (time.Duration, error)

	// Boot starts it with the volumes that it had. The server is not started.
	Boot(ctx context.Context) error
	CutNetwork(ctx context.Context) error
	MendNetwork(ctx context.Context) error
	// SkewClock moves its clock so far from where it is.
	SkewClock(ctx context.Context, by time.Duration) error
}

// FaultProne is a provider whose volumes can be given trouble: in a lab.
type FaultProne interface {
	// Conditions are the faults and limits that requests to an attached volume meet now.
	Conditions(ctx context.Context, id string) (disk.Conditions, error)
	SetConditions(ctx context.Context, id string, c disk.Conditions) error
	// Corrupt overwrites a part of an attached volume behind its machine's back.
	Corrupt(ctx context.Context, id string, offset int64, bytes []byte) error
}

// The tags of a volume, by which it is found again: the node to which it belongs, and its name among the volumes of that node.
const (
	NodeTag   = "node"
	VolumeTag = "volume"
	// ClusterTag is the cluster of that node, for a provider whose volumes are those of many clusters.
	ClusterTag = "cluster"
)

// VolumeOwner takes apart how a step calls a volume: NAME is one of the node at hand, OWNER/NAME one of another node.
func VolumeOwner(node, said string) (owner, name string) {
	if owner, name, other := strings.Cut(said, "/"); other && owner != "" {
		return owner, name
	}
	return node, said
}

// Volume returns a volume by its id, or by its name among those that belong to a node, as VolumeOwner has it.
func (s *Cluster) Volume(ctx context.Context, node, name string) (infra.Volume, error) {
	if s.Volumes == nil {
		return infra.Volume{}, &hint.PermanentError{Reason: fmt.Sprintf("Plimsoll has no information about the volumes of cluster %s", s.Name),
			Advice: "in a lab: plimsoll lab up mariadb --machines --name NAME; on EC2 name the instances of the nodes' machines in plimsoll.yaml (ec2:)"}
	}
	node, name = VolumeOwner(node, name)
	all, err := s.Volumes.List(ctx, map[string]string{NodeTag: node, VolumeTag: name})
	if err != nil {
		return infra.Volume{}, fmt.Errorf("look for volume %s of node %s: %w", name, node, err)
	}
	switch len(all) {
	case 0:
		return s.Volumes.Describe(ctx, name)
	case 1:
		return all[0], nil
	}
	return infra.Volume{}, &hint.PermanentError{Reason: fmt.Sprintf("node %s has %d volumes %s", node, len(all), name),
		Advice: "name one by its id, such as " + all[0].ID}
}

// Host returns a node's machine as one that can be lost and started.
func (s *Cluster) Host(ctx context.Context, node string) (FaultProneHost, error) {
	n, err := s.Node(ctx, node)
	if err != nil {
		return nil, err
	}
	h, ok := As[FaultProneHost](n.Host)
	if !ok {
		return nil, &hint.PermanentError{Reason: fmt.Sprintf("node %s has no machine that Plimsoll can control", n.Name),
			Advice: "use a lab with machines: plimsoll lab up mariadb --machines --name NAME; Plimsoll injects faults into machines of labs only"}
	}
	return h, nil
}

// onlyLookAt is a Host that nothing can be done to.
func onlyLookAt(h Host) Host {
	zoned, _ := h.(Zoned)
	switch h := h.(type) {
	case nil:
		return nil
	case FaultProneHost:
		return readOnlyFaultProneHost{h, zoned}
	default:
		return readOnlyHost{h, zoned}
	}
}

// readOnlyHost keeps the questions of a Host, and of a Zoned; nil: it is none.
type readOnlyHost struct {
	Host
	Zoned
}

func (h readOnlyHost) behind() any { return h.Host }

func (readOnlyHost) Kill(context.Context) error {
	return fmt.Errorf("kill a machine: %w", ErrReadOnly)
}

// readOnlyFaultProneHost keeps the questions of a FaultProneHost, and of a Zoned.
type readOnlyFaultProneHost struct {
	FaultProneHost
	Zoned
}

func (h readOnlyFaultProneHost) behind() any { return h.FaultProneHost }

func (readOnlyFaultProneHost) Kill(context.Context) error {
	return fmt.Errorf("kill a machine: %w", ErrReadOnly)
}
func (readOnlyFaultProneHost) Boot(context.Context) error {
	return fmt.Errorf("boot a machine: %w", ErrReadOnly)
}
func (readOnlyFaultProneHost) CutNetwork(context.Context) error {
	return fmt.Errorf("disconnect a network: %w", ErrReadOnly)
}
func (readOnlyFaultProneHost) MendNetwork(context.Context) error {
	return fmt.Errorf("reconnect a network: %w", ErrReadOnly)
}
func (readOnlyFaultProneHost) SkewClock(context.Context, time.Duration) error {
	return fmt.Errorf("set a clock: %w", ErrReadOnly)
}

// readOnlyVolumes keeps the questions of infra.Volumes, and of Troubled.
type readOnlyVolumes struct{ infra.Volumes }

func (readOnlyVolumes) Create(context.Context, infra.VolumeSpec) (infra.Volume, error) {
	return infra.Volume{}, fmt.Errorf("create a volume: %w", ErrReadOnly)
}
func (readOnlyVolumes) Tag(_ context.Context, id string, _ map[string]string) error {
	return fmt.Errorf("tag %s: %w", id, ErrReadOnly)
}
func (readOnlyVolumes) Modify(_ context.Context, id string, _ infra.VolumeSpec) error {
	return fmt.Errorf("modify %s: %w", id, ErrReadOnly)
}
func (readOnlyVolumes) Attach(_ context.Context, id, _ string) error {
	return fmt.Errorf("attach %s: %w", id, ErrReadOnly)
}
func (readOnlyVolumes) Detach(_ context.Context, id, _ string) error {
	return fmt.Errorf("detach %s: %w", id, ErrReadOnly)
}
func (readOnlyVolumes) ForceDetach(_ context.Context, id, _ string) error {
	return fmt.Errorf("detach %s: %w", id, ErrReadOnly)
}
func (readOnlyVolumes) Delete(_ context.Context, id string) error {
	return fmt.Errorf("delete %s: %w", id, ErrReadOnly)
}

// readOnlyTroubled keeps the question of a Troubled.
type readOnlyTroubled struct {
	readOnlyVolumes
	FaultProne
}

func (readOnlyTroubled) SetConditions(_ context.Context, id string, _ disk.Conditions) error {
	return fmt.Errorf("inject a fault into %s: %w", id, ErrReadOnly)
}
func (readOnlyTroubled) Corrupt(_ context.Context, id string, _ int64, _ []byte) error {
	return fmt.Errorf("corrupt %s: %w", id, ErrReadOnly)
}

func onlyLook(v infra.Volumes) infra.Volumes {
	switch v := v.(type) {
	case nil:
		return nil
	case interface {
		infra.Volumes
		FaultProne
	}:
		return readOnlyTroubled{readOnlyVolumes{v}, v}
	default:
		return readOnlyVolumes{v}
	}
}
