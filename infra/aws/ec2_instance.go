package aws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Machine is an instance of EC2 as the API shows it, which may be later than what is.
type Machine struct {
	ID      string            `json:"id"`
	State   string            `json:"state"` // pending, running, shutting-down, terminated, stopping, stopped
	Type    string            `json:"type"`
	Zone    string            `json:"zone"`
	Address string            `json:"address,omitempty"` // private
	Volumes map[string]string `json:"volumes,omitempty"` // ids, by the device name that EC2 calls each, which means nothing within
	Tags    map[string]string `json:"tags,omitempty"`
	// Mortal are volumes that are deleted when the instance is terminated, but for the one that it boots from.
	Mortal []string `json:"deleted_on_termination,omitempty"`
}

// Stopped tells whether an instance can write nothing any more.
func (m Machine) Stopped() bool { return m.State == "stopped" || m.State == "terminated" }

func machineOf(i types.Instance) Machine {
	m := Machine{
		ID: sdk.ToString(i.InstanceId), Type: string(i.InstanceType), Address: sdk.ToString(i.PrivateIpAddress),
		Volumes: map[string]string{}, Tags: ec2TagsOf(i.Tags),
	}
	if i.State != nil {
		m.State = string(i.State.Name)
	}
	if i.Placement != nil {
		m.Zone = sdk.ToString(i.Placement.AvailabilityZone)
	}
	for _, d := range i.BlockDeviceMappings {
		if d.Ebs == nil {
			continue
		}
		m.Volumes[sdk.ToString(d.DeviceName)] = sdk.ToString(d.Ebs.VolumeId)
		if sdk.ToBool(d.Ebs.DeleteOnTermination) && sdk.ToString(d.DeviceName) != sdk.ToString(i.RootDeviceName) {
			m.Mortal = append(m.Mortal, sdk.ToString(d.Ebs.VolumeId))
		}
	}
	return m
}

func (e *EC2) machines(ctx context.Context, in *ec2.DescribeInstancesInput) (all []Machine, err error) {
	for {
		page, err := e.calls.describeInstances(ctx, in)
		if err != nil {
			return nil, explainEC2("DescribeInstances", err)
		}
		for _, r := range page.Reservations {
			for _, i := range r.Instances {
				all = append(all, machineOf(i))
			}
		}
		if in.NextToken = page.NextToken; sdk.ToString(in.NextToken) == "" {
			return all, nil
		}
	}
}

// Machine returns an instance; infra.ErrNoMachine if there is none of that id. One that was terminated is shown for an hour.
func (e *EC2) Machine(ctx context.Context, id string) (Machine, error) {
	all, err := e.machines(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("instance %s: %w", id, infra.ErrNoMachine)
	}
	if err != nil {
		return Machine{}, err
	}
	return all[0], nil
}

// FindMachine returns the one instance that carries these tags and was not terminated.
func (e *EC2) FindMachine(ctx context.Context, tags map[string]string) (Machine, error) {
	alive := filter("instance-state-name", "pending", "running", "stopping", "stopped")
	all, err := e.machines(ctx, &ec2.DescribeInstancesInput{Filters: append(filters(tags), alive)})
	if err != nil {
		return Machine{}, err
	}
	var said []string
	for _, t := range ec2TagList(tags) {
		said = append(said, *t.Key+"="+*t.Value)
	}
	switch len(all) {
	case 0:
		return Machine{}, hint.With(fmt.Errorf("instance with %s: %w", strings.Join(said, ", "), infra.ErrNoMachine), "in region "+e.Region+"; name a terminated instance by its id")
	case 1:
		return all[0], nil
	}
	var ids []string
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return Machine{}, &hint.PermanentError{
		Reason: fmt.Sprintf("%d instances carry %s: %s", len(all), strings.Join(said, ", "), strings.Join(ids, ", ")),
		Advice: "name one by its id, or give it a unique tag",
	}
}

// Stop has an instance stop at once, without asking its operating system, and returns when it is seen stopped. What is on its own disks
// is lost. ErrNoMachine if the API shows no such instance: it was terminated more than an hour ago, or never was.
func (e *EC2) Stop(ctx context.Context, id string, p Patience) error {
	p = p.orDefault()
	m, err := e.Machine(ctx, id)
	if err != nil || m.Stopped() {
		return err
	}
	_, err = e.calls.stopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{id}, Force: sdk.Bool(true)})
	switch err = explainEC2("StopInstances", err); {
	case isCode(err, codeUnsupported), isCode(err, codeNotPermitted):
		return hint.With(err, "instances without a root volume, spot instances and protected instances cannot be stopped: terminate it yourself (aws ec2 terminate-instances --instance-ids "+
			id+"), then plimsoll runbook resume RUN")
	case err != nil && !isCode(err, codeNotStoppable): // it stops already, or its end has begun: it is looked at
		return err
	}
	err = p.await(ctx, p.Stop, func(ctx context.Context) (bool, error) {
		m, err = e.Machine(ctx, id)
		return m.Stopped(), err
	})
	if errors.Is(err, errTooLong) {
		return &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s is %s, %v after the request to stop it", id, m.State, p.Stop),
			Advice: "it may still write, so no volume was detached from it: stop it by force again or terminate it (aws ec2 terminate-instances --instance-ids " + id +
				"), verify that it is stopped, then plimsoll runbook resume RUN",
		}
	}
	return err
}
