package catalog

import (
	"context"
	"errors"
	"sync"

	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/inventory"
)

// EC2Host is the instance that a machine is, as the inventory says. Nothing is asked yet.
func EC2Host(is inventory.EC2) *aws.Host {
	return &aws.Host{API: openEC2(is), Instance: is.ID, Tags: is.Tags}
}

// openEC2 reaches EC2 when it is first needed: what needs no instance must not fail for want of a region.
func openEC2(at inventory.EC2) func(context.Context) (*aws.EC2, error) {
	var mu sync.Mutex
	var opened *aws.EC2
	return func(ctx context.Context) (_ *aws.EC2, err error) {
		mu.Lock()
		defer mu.Unlock()
		if opened == nil {
			opened, err = aws.OpenEC2(ctx, aws.Options{Region: at.Region, Profile: at.Profile})
		}
		return opened, err
	}
}

// onEC2 gives nodes their instances, and the cluster their volumes, where the inventory says that they run there.
func onEC2(on *cluster.Cluster, c inventory.Cluster, nodes, spares []cluster.Node) {
	there := c.OnEC2()
	if len(there) == 0 {
		return
	}
	at, _ := c.InstanceOf(there[0])
	api := openEC2(at)
	hosts := map[string]*aws.Host{}
	for _, n := range there {
		is, _ := c.InstanceOf(n)
		hosts[n.Name] = &aws.Host{API: api, Instance: is.ID, Tags: is.Tags}
	}
	machines := map[string]infra.Machine{}
	for _, list := range [][]cluster.Node{nodes, spares} {
		for i := range list {
			if h := hosts[list[i].Name]; h != nil {
				list[i].Host = h
				machines[list[i].Name] = list[i].Machine
			}
		}
	}
	inside := func(ctx context.Context, instance string) (infra.Machine, error) {
		for name, h := range hosts {
			id, err := h.ID(ctx)
			if err != nil && !errors.Is(err, infra.ErrNoMachine) {
				return nil, err
			}
			if id == instance {
				return machines[name], nil
			}
		}
		return nil, nil
	}
	on.Volumes = inventory.Volumes{Volumes: &aws.Volumes{API: api, Inside: inside}, Cluster: on.Name, Nodes: c.Nodes}
}
