package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/superdisk"
)

// up makes the lab: n1 has the data on its local disk, and n2, if there is one, is a spare machine with a blank one.
func (d *disks) up(ctx context.Context) error {
	flags := []string{"lab", "up", "mariadb", "--name", d.lab, "--machines", "--nodes", strconv.Itoa(len(d.nodes))}
	for _, v := range []string{"local=512M", "network=512M", localLeg + "=384M", networkLeg + "=384M"} {
		flags = append(flags, "--volume", v)
	}
	for _, s := range []string{"innodb_buffer_pool_size=32M", "innodb_log_file_size=8M", "read_only=OFF"} {
		flags = append(flags, "--set", s)
	}
	if _, err := d.plimsoll(ctx, flags...); err != nil {
		return err
	}
	for name, text := range disksBooks {
		if err := os.WriteFile(filepath.Join(d.work, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("keep a runbook: %w", err)
		}
	}
	return nil
}

// connect reaches what the lab has.
func (d *disks) connect(ctx context.Context) error {
	secret, err := os.ReadFile(filepath.Join(d.home.folder, "lab", d.lab, "password"))
	if err != nil {
		return fmt.Errorf("read the lab's password: %w", err)
	}
	d.lookup.password, d.at = engine.Secret(strings.TrimSpace(string(secret))), "n1"
	host, err := local.New()
	if err != nil {
		return fmt.Errorf("reach this host: %w", err)
	}
	d.volumes = &uml.Volumes{Host: host, Folder: filepath.Join(d.home.folder, "lab", d.lab, "volumes"), Machine: func(ctx context.Context, name string) (*uml.Machine, error) {
		return uml.Open(ctx, host, filepath.Join(d.home.folder, "lab", d.lab, name))
	}}
	for _, node := range d.nodes {
		if err := d.reach(ctx, node); err != nil {
			return err
		}
	}
	d.network, err = d.volume(ctx, "n1", "network")
	return err
}

// findData finds the machine with the data, in a lab that was left in the middle of an attack.
func (d *disks) findData(ctx context.Context) (err error) {
	for _, node := range d.nodes {
		if d.files, err = d.machines[node].sh(ctx, "fsfreeze -u /mnt/data 2>/dev/null; cd /mnt/data/truth && sha256sum f*"); err == nil {
			d.at = node
			return nil
		}
	}
	return err
}

// prepare fills the data, and makes n2 a spare machine, if there is one.
func (d *disks) prepare(ctx context.Context) (err error) {
	if err := d.do(ctx, "ledger.yaml"); err != nil {
		return err
	}
	for _, node := range d.nodes[1:] {
		if err := d.do(ctx, "stop.yaml", "node="+node); err != nil {
			return err
		}
		if err := d.blank(ctx, node); err != nil {
			return err
		}
	}
	// The copy of the data to which the attack on superdisk/migrate returns is in the machine's memory.
	if err := d.do(ctx, "stop.yaml", "node=n1"); err != nil {
		return err
	}
	d.files, err = d.machines["n1"].sh(ctx, `mkdir -p /mnt/data/truth && cd /mnt/data/truth || exit 1
for i in 1 2 3 4 5 6 7 8; do dd if=/dev/urandom of=f$i bs=256K count=$i status=none; done
tar -C /mnt/data -cpf /run/data.tar . && sha256sum f*`)
	if err != nil {
		return err
	}
	return d.do(ctx, "start.yaml", "node=n1")
}

// reach connects to a machine of the lab.
func (d *disks) reach(ctx context.Context, node string) error {
	m, err := d.volumes.Machine(ctx, node)
	if err != nil {
		return fmt.Errorf("reach the machine of %s: %w", node, err)
	}
	d.machines[node] = guest{Machine: m}
	return nil
}

// volume is the id of a volume of the lab.
func (d *disks) volume(ctx context.Context, node, name string) (string, error) {
	all, err := d.volumes.List(ctx, map[string]string{cluster.NodeTag: node, cluster.VolumeTag: name})
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%s has %d volumes %s", node, len(all), name)
	}
	if err != nil {
		return "", err
	}
	return all[0].ID, nil
}

// device is where a machine has a volume now.
func (d *disks) device(ctx context.Context, node, volume string) (string, error) {
	dev, err := infra.Device(ctx, d.machines[node], infra.VolumeSerial(volume))
	return dev.Path, err
}

// legs are the devices of the two legs on a machine.
func (d *disks) legs(ctx context.Context, node string) (localDevice, networkDevice string, err error) {
	id, err := d.volume(ctx, node, "local")
	if err != nil {
		return "", "", err
	}
	if localDevice, err = d.device(ctx, node, id); err != nil {
		return "", "", err
	}
	networkDevice, err = d.device(ctx, node, d.network)
	return localDevice, networkDevice, err
}

func other(node string) string { return map[string]string{"n1": "n2", "n2": "n1"}[node] }

// still ends the server of a machine, unmounts its data and stops its arrays.
const still = `pkill -9 mariadbd; n=0; while pgrep -r R,S,D mariadbd >/dev/null; do n=$((n + 1)); [ $n -lt 300 ] || { ps -C mariadbd -o pid,stat,etime,args >&2; exit 1; }; sleep 0.1; done
for at in /mnt/data /mnt/array /run/plimsoll-superdisk/*; do while grep -q " $at " /proc/self/mounts; do umount $at || exit 1; done; done
for md in /dev/md[0-9]*; do [ ! -b $md ] || mdadm -q --stop $md || exit 1; done
rm -f /run/plimsoll-superdisk/*.json
`

// wipe makes a disk blank: also where the data of an array began, whose file system a new array would have.
func wipe(device string) string {
	return fmt.Sprintf("mdadm -q --zero-superblock %[1]s 2>/dev/null; wipefs -qa %[1]s; dd if=/dev/zero of=%[1]s bs=1M count=8 oflag=direct conv=notrunc status=none || exit 1\n", device)
}

// blank makes a machine a spare one: nothing runs there, and its local disk is blank.
func (d *disks) blank(ctx context.Context, node string) error {
	id, err := d.volume(ctx, node, "local")
	if err != nil {
		return err
	}
	device, err := d.device(ctx, node, id)
	if err != nil {
		return err
	}
	_, err = d.machines[node].sh(ctx, still+wipe(device))
	return err
}

// present has a machine run, with the network leg's volume if it is to have it.
func (d *disks) present(ctx context.Context, node string, network bool) error {
	if running, err := d.machines[node].Running(ctx); err != nil {
		return err
	} else if !running {
		if err := d.do(ctx, "boot.yaml", "node="+node); err != nil {
			return err
		}
		if err := d.reach(ctx, node); err != nil {
			return err
		}
	}
	v, err := d.volumes.Describe(ctx, d.network)
	if err != nil || !network || v.Machine == node && v.State == infra.VolumeInUse {
		return err
	}
	if v.Machine != "" && v.Machine != node {
		if err := d.volumes.Detach(ctx, d.network, v.Machine); err != nil {
			return err
		}
	}
	return d.volumes.Attach(ctx, d.network, node)
}

// plain brings the node to where superdisk/migrate begins: its data is on the local disk, and the network volume is blank.
func (d *disks) plain(ctx context.Context) error {
	if err := d.present(ctx, d.at, true); err != nil {
		return err
	}
	localDevice, networkDevice, err := d.legs(ctx, d.at)
	if err != nil {
		return err
	}
	_, err = d.machines[d.at].sh(ctx, still+wipe(localDevice)+wipe(networkDevice)+
		"mkfs.xfs -qf "+localDevice+" && mkdir -p /mnt/data && mount -o noatime "+localDevice+" /mnt/data && tar -C /mnt/data -xpf /run/data.tar && sync -f /mnt/data")
	if err != nil {
		return err
	}
	return d.do(ctx, "start.yaml", "node="+d.at)
}

// serving brings the node to where most runbooks begin: both legs are in step, and the server serves. What is so already stays.
func (d *disks) serving(ctx context.Context) error {
	if err := d.present(ctx, d.at, true); err != nil {
		return err
	}
	s, err := superdisk.Inspect(ctx, d.machines[d.at])
	if err != nil {
		return err
	}
	node := "node=" + d.at
	if err := d.sweep(ctx, s); err != nil {
		return err
	}
	a, there := s.Find(arrayName)
	if there && (!a.Running() || a.Mount == "") {
		if _, err := d.machines[d.at].sh(ctx, still); err != nil {
			return err
		}
		there = false
	}
	if !there {
		_, networkDevice, err := d.legs(ctx, d.at)
		if err != nil {
			return err
		}
		if _, err := superdisk.ReadSuperblock(ctx, d.machines[d.at], networkDevice); errors.Is(err, superdisk.ErrNoSuperblock) {
			if err := d.plain(ctx); err != nil {
				return err
			}
			return d.do(ctx, "superdisk/migrate", node, "local=local", "network=n1/network", "mount="+dataAt)
		}
		if err := d.wipeLocal(ctx); err != nil {
			return err
		}
		if err := d.do(ctx, "superdisk/emergency-start", node, "network=n1/network", "mount="+dataAt, "accept_stale=yes"); err != nil {
			return err
		}
	} else if err := d.started(ctx); err != nil {
		return err
	}
	if a.Whole() {
		return nil
	}
	if _, in := a.Leg(superdisk.Network); there && !in {
		return d.do(ctx, "superdisk/reattach-network", node, "network=n1/network")
	}
	if there {
		if err := d.wipeLocal(ctx); err != nil {
			return err
		}
	}
	return d.do(ctx, "superdisk/rebuild", node, "local=local")
}

// started has the server run.
func (d *disks) started(ctx context.Context) error {
	if runs, err := d.machines[d.at].sh(ctx, "pgrep -r R,S,D mariadbd; true"); err != nil || runs != "" {
		return err
	}
	return d.do(ctx, "start.yaml", "node="+d.at)
}

// sweep takes the array away that superdisk/create has made beside the data.
func (d *disks) sweep(ctx context.Context, s superdisk.Status) error {
	script := ""
	for _, a := range s.Arrays {
		if a.Name == arrayName {
			continue
		}
		if a.Mount != "" {
			script += "umount " + a.Mount + " && "
		}
		script += "mdadm -q --stop " + a.Device + " || exit 1\n"
	}
	for _, name := range []string{localLeg, networkLeg} {
		id, err := d.volume(ctx, d.at, name)
		if err != nil {
			return err
		}
		device, err := d.device(ctx, d.at, id)
		if err != nil {
			return err
		}
		script += wipe(device)
	}
	_, err := d.machines[d.at].sh(ctx, script)
	return err
}

// wipeLocal makes the local disk blank, if it is no leg of an array that runs.
func (d *disks) wipeLocal(ctx context.Context) error {
	localDevice, _, err := d.legs(ctx, d.at)
	if err != nil {
		return err
	}
	s, err := superdisk.Inspect(ctx, d.machines[d.at])
	if err != nil {
		return err
	}
	if a, there := s.Find(arrayName); there {
		if _, in := a.On(localDevice); in {
			return nil
		}
	}
	_, err = d.machines[d.at].sh(ctx, wipe(localDevice))
	return err
}
