package fault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"plimsoll/action"
	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/infra"
	"plimsoll/infra/disk"
	"plimsoll/infra/disk/pace"
)

// onVolume is which volume of which node.
type onVolume struct {
	Node   string `yaml:"node,required" doc:"Which node."`
	Volume string `yaml:"volume,required" doc:"An attached volume: its name among those of the node, such as network, or its id."`

	own condition // of the action
}

var _ action.Undoer = (*onVolume)(nil)

// Traits says that it can be taken back.
func (o *onVolume) Traits() action.Traits {
	return action.Traits{Effect: action.Reversible, Repeatable: true}
}

// Brings says anything: what is on a machine may be otherwise after a fault.
func (o *onVolume) Brings(context.Context, *cluster.Cluster) []string {
	return []string{action.Anything}
}

// meets is a volume that can be given faults, with what it meets now.
func (o *onVolume) meets(ctx context.Context, on *cluster.Cluster) (infra.Volume, cluster.FaultProne, disk.Conditions, error) {
	if err := allowed(on); err != nil {
		return infra.Volume{}, nil, disk.Conditions{}, err
	}
	v, err := on.Volume(ctx, o.Node, o.Volume)
	if err != nil {
		return v, nil, disk.Conditions{}, err
	}
	volumes, is := on.Volumes.(cluster.FaultProne)
	if !is {
		return v, nil, disk.Conditions{}, &hint.PermanentError{
			Reason: fmt.Sprintf("the provider of %s offers no faults for its volumes", v.ID), Advice: "use a lab with machines: plimsoll lab up mariadb --machines --name NAME",
		}
	}
	now, err := volumes.Conditions(ctx, v.ID)
	return v, volumes, now, err
}

// condition is what an action makes of some parts of a volume's conditions, until it is undone.
type condition interface {
	give(c *disk.Conditions)                           // puts it in
	back(now *disk.Conditions, before disk.Conditions) // puts those parts back as they were
}

// Check compares what the volume meets with what it is to meet.
func (o *onVolume) Check(ctx context.Context, on *cluster.Cluster) (action.CheckResult, error) {
	_, _, now, err := o.meets(ctx, on)
	if errors.Is(err, infra.ErrNotAttached) || errors.Is(err, infra.ErrNoVolume) {
		return action.CheckResult{State: action.Unknown, Reason: err.Error()}, nil
	}
	if err != nil {
		return action.CheckResult{}, err
	}
	then := now
	o.own.give(&then)
	f := action.CheckResult{State: action.Needed, Observed: action.Facts{"conditions": text(now)}, Intended: action.Facts{"conditions": text(then)}}
	if reflect.DeepEqual(now, then) {
		f.State = action.Satisfied
	}
	return f, nil
}

// Act injects the fault.
func (o *onVolume) Act(ctx context.Context, on *cluster.Cluster, _ action.Call) (action.Facts, error) {
	v, volumes, now, err := o.meets(ctx, on)
	if err != nil {
		return nil, err
	}
	o.own.give(&now)
	return nil, volumes.SetConditions(ctx, v.ID, now)
}

// Undo puts back what was found. A volume that was detached meanwhile has no fault any more.
func (o *onVolume) Undo(ctx context.Context, on *cluster.Cluster, c action.Call) error {
	v, volumes, now, err := o.meets(ctx, on)
	if errors.Is(err, infra.ErrNotAttached) || errors.Is(err, infra.ErrNoVolume) {
		return nil
	}
	if err != nil {
		return err
	}
	var before disk.Conditions
	said, _ := c.Before["conditions"].(string)
	if err := json.Unmarshal([]byte(said), &before); err != nil {
		return fmt.Errorf("read the volume's present faults: %w", err)
	}
	o.own.back(&now, before)
	return volumes.SetConditions(ctx, v.ID, now)
}

func text(c disk.Conditions) string {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // plain values
	}
	return string(data)
}

var hangAction = action.Action{
	Name: "fault.hang-volume", Version: 1, About: "Makes a volume hang, with neither data nor an error, until it is undone. Not in production.",
	New: func() action.Task {
		h := &hang{Hang: true}
		h.own = h
		return h
	},
}

type hang struct {
	onVolume
	Hang bool `yaml:"hang" doc:"false thaws it. Default true."`
}

func (h *hang) give(c *disk.Conditions)                           { c.Hang = h.Hang }
func (h *hang) back(now *disk.Conditions, before disk.Conditions) { now.Hang = before.Hang }

var fillAction = action.Action{
	Name: "fault.fill-volume", Version: 1, About: "Makes every write to a volume fail, as when its pool is full, until it is undone. Not in production.",
	New: func() action.Task {
		f := &fill{Full: true}
		f.own = f
		return f
	},
}

type fill struct {
	onVolume
	Full bool `yaml:"full" doc:"false makes it accept writes again. Default true."`
}

func (f *fill) give(c *disk.Conditions)                           { c.Full = f.Full }
func (f *fill) back(now *disk.Conditions, before disk.Conditions) { now.Full = before.Full }

var slowAction = action.Action{
	Name: "fault.slow-volume", Version: 1, About: "Makes a volume slower, until it is undone. Not in production.",
	New: func() action.Task {
		s := &slow{}
		s.own = s
		return s
	},
}

type slow struct {
	onVolume
	IOPS       float64       `yaml:"iops" doc:"Requests per second. Default: unchanged."`
	Throughput float64       `yaml:"throughput_mib" doc:"MiB per second. Default: unchanged."`
	Latency    time.Duration `yaml:"latency" doc:"Extra time of every request. Default: unchanged."`
}

func (s *slow) Validate() error {
	if s.IOPS < 0 || s.Throughput < 0 || s.Latency < 0 || s.IOPS == 0 && s.Throughput == 0 && s.Latency == 0 {
		return errors.New("give iops, throughput_mib or latency, each more than zero")
	}
	return nil
}

func (s *slow) give(c *disk.Conditions) {
	if s.IOPS > 0 {
		c.Limits.IOPS, c.Limits.Burst = s.IOPS, pace.Burst{}
	}
	if s.Throughput > 0 {
		c.Limits.Throughput = s.Throughput * (1 << 20)
	}
	if s.Latency > 0 {
		c.Limits.Latency = s.Latency
	}
}

func (s *slow) back(now *disk.Conditions, before disk.Conditions) { now.Limits = before.Limits }

var failAction = action.Action{
	Name: "fault.fail-volume", Version: 1, About: "Makes reads or writes of a part of a volume fail until it is undone. Not in production.",
	New: func() action.Task {
		f := &fail{}
		f.own = f
		return f
	},
}

type fail struct {
	onVolume
	From   int64 `yaml:"from" doc:"The first byte of the part. Default 0."`
	To     int64 `yaml:"to" doc:"The first byte after it. Default: the end of the volume."`
	Reads  bool  `yaml:"reads" doc:"Its reads fail."`
	Writes bool  `yaml:"writes" doc:"Its writes fail."`
}

func (f *fail) Validate() error {
	if !f.Reads && !f.Writes || f.From < 0 || f.To != 0 && f.To <= f.From {
		return errors.New("give reads: true or writes: true, and the part of the volume that fails")
	}
	return nil
}

func (f *fail) give(c *disk.Conditions) {
	c.Fail = []disk.Range{{From: f.From, To: f.To, Reads: f.Reads, Writes: f.Writes}}
}

func (f *fail) back(now *disk.Conditions, before disk.Conditions) { now.Fail = before.Fail }
