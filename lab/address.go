package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// place is where a cluster's nodes listen: addresses of one /24 of the lab's network, and one port. It is held by a lock that is common to
// all labs of the machine for as long as a Plimsoll process has the cluster open; afterwards servers that listen hold it by themselves.
type place struct {
	network netip.Addr // of the /24
	port    int
	release func() error
}

// address is that of node number n, from 1.
func (p place) address(n int) netip.Addr {
	b := p.network.As4()
	b[3] = byte(n)
	return netip.AddrFrom4(b)
}

// takePlace finds a /24 that no other cluster has, and whose addresses have a free port.
func (d Deps) takePlace(ctx context.Context, nodes, port, usual int) (place, error) {
	listeners, err := infra.Listeners(ctx, d.Machine)
	if err != nil {
		return place{}, err
	}
	ports := []int{port}
	if port == 0 {
		ports = ports[:0]
		for p := usual; p < usual+100; p++ {
			ports = append(ports, p)
		}
	}
	claimed, err := d.claimed(ctx)
	if err != nil {
		return place{}, err
	}
	var refusal error
	for _, p := range ports {
		for _, n := range d.networks() {
			at := place{network: n, port: p}
			if claimed[n.String()] || !at.free(listeners) {
				continue
			}
			if refusal = d.hold(ctx, &at); refusal == nil {
				return at, nil
			}
			if ctx.Err() != nil {
				return place{}, ctx.Err()
			}
		}
	}
	if refusal != nil {
		return place{}, fmt.Errorf("no free addresses in %s for %d nodes: %w", d.Network, nodes, refusal)
	}
	if port != 0 {
		return place{}, hint.With(fmt.Errorf("port %d is taken on every address of %s", port, d.Network),
			"some process listens on all addresses (ss -ltnp shows which); choose another port, or none for the next free one")
	}
	return place{}, fmt.Errorf("no free addresses in %s for %d nodes", d.Network, nodes)
}

// hold locks a place that looked free, and looks again: its last holder may have let go because servers listen by now.
func (d Deps) hold(ctx context.Context, at *place) error {
	release, err := d.Machine.Lock(atOnce(ctx), placeLock(at.network.String()))
	if err != nil {
		return err
	}
	listeners, err := infra.Listeners(ctx, d.Machine)
	if err == nil && !at.free(listeners) {
		err = fmt.Errorf("%s was taken meanwhile", at.network)
	}
	if err != nil {
		return errors.Join(err, release())
	}
	at.release = release
	return nil
}

// free tells whether nothing listens on an address of the /24, at whatever port: a cluster of another engine that is up
// while no Plimsoll works it holds its place by listening alone. The port must be free on all addresses besides.
func (p place) free(listeners []netip.AddrPort) bool {
	network := netip.PrefixFrom(p.network, 24)
	return !slices.ContainsFunc(listeners, func(l netip.AddrPort) bool {
		return network.Contains(l.Addr()) || l.Addr().IsUnspecified() && int(l.Port()) == p.port
	})
}

// networks are the /24s of the lab's network.
func (d Deps) networks() []netip.Addr {
	b := d.Network.Masked().Addr().As4()
	first := binary.BigEndian.Uint32(b[:])
	all := make([]netip.Addr, 1<<(24-d.Network.Bits()))
	for i := range all {
		binary.BigEndian.PutUint32(b[:], first+uint32(i)<<8)
		all[i] = netip.AddrFrom4(b)
	}
	return all
}

// claimed are the networks of this lab's clusters, running or not.
func (d Deps) claimed(ctx context.Context) (map[string]bool, error) {
	names, err := d.Machine.List(ctx, d.clusters())
	if err != nil {
		return nil, fmt.Errorf("list clusters: %w", err)
	}
	claimed := map[string]bool{}
	for _, name := range names {
		if r, err := readRecord(ctx, d.Machine, d.folder(name)); err == nil {
			claimed[r.Network] = true
		}
	}
	return claimed, nil
}

// placeLock is the machine-wide lock of a /24. One that belongs to another user cannot even be opened: taken as well.
func placeLock(network string) string { return "/tmp/plimsoll-" + network + ".lock" }

// moment is how long a lock is waited for that may be held in passing: by one who looks whether a place is free, or by what
// a killed Plimsoll was about to start.
const moment = time.Second

// lockCluster takes a cluster for this Plimsoll alone.
func (d Deps) lockCluster(ctx context.Context, name string) (func() error, error) {
	if err := d.Machine.MakeDir(ctx, d.clusters()); err != nil {
		return nil, fmt.Errorf("make the lab's folder: %w", err)
	}
	patient, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	release, err := d.Machine.Lock(patient, d.folder(name)+".lock")
	if errors.Is(err, infra.ErrLocked) {
		return nil, hint.With(fmt.Errorf("cluster %s is in use: %w", name, err), "a run, a trial or a load may be working on it (plimsoll runbook status shows the runs): wait until it ends, then try again")
	}
	return release, err
}

// atOnce makes a lock be tried only once.
func atOnce(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}
