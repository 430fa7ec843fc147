package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/cluster"
	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/superdisk"
)

// disks is an attack on the runbooks of Super Disks. A MariaDB stands in one of two lab machines, and Plimsoll is killed at each entry of
// the journals of their runs and of their undos; what stands then is judged by the machines themselves. The machines are booted once
// for all runbooks of a lab, but for those that lose one.
type disks struct {
	program, work, lab string
	home               home
	lookup             mixed // finds the lab's servers
	volumes            *uml.Volumes
	machines           map[string]guest
	at                 string // the node with the data
	network            string // id of the volume of the network leg, which goes from one machine to the other
	files              string // sums of the files beside the database
	tries              int
}

// disksPrefix begins the names of the results of these attacks.
const disksPrefix = "disks-"

// disksLease is short for the same reason.
const disksLease = copiesLease

// disksPatience is long: on a busy machine a kernel in user mode takes minutes for what takes it seconds.
const disksPatience = 15 * time.Minute

const (
	dataAt  = "/mnt/data"  // where a lab's machine has its data
	spareAt = "/mnt/array" // where superdisk/create makes an array beside it
	second  = "second"     // the name of that
)

// disksResult is what is kept of the attack on one runbook.
type disksResult struct {
	Runbook  string         `json:"runbook"`
	Kernel   string         `json:"kernel"`
	At       time.Time      `json:"at"`
	Took     time.Duration  `json:"took_ns"`
	Steps    int            `json:"steps"`
	Tries    int            `json:"tries"`
	Runs     int            `json:"runs"`
	Kills    int            `json:"kills"`
	Undos    int            `json:"undo_kills"` // kills of a process that undid the run
	Moments  []string       `json:"moments"`    // of the journal at which it was killed
	Missed   []string       `json:"missed,omitempty"`
	Untried  []string       `json:"untried,omitempty"` // moments at which it was not killed yet
	Ends     map[string]int `json:"ends"`
	Looks    int            `json:"looks"`          // at the machines, when a run had ended
	Compared int64          `json:"bytes_compared"` // of files, on one leg and on the other
	Rebuilt  int            `json:"rebuilt,omitempty"`
	Troubled []*diskTry     `json:"troubled,omitempty"`
}

// onDisks attacks these runbooks, or all, and keeps what it finds. Each group of runbooks has a lab of its own.
func (r rack) onDisks(ctx context.Context, only, goOn string, within time.Duration, atOnce int) error {
	if err := os.MkdirAll(r.results, 0o750); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	var groups [][]diskCase
	for _, g := range diskCases {
		g = slices.DeleteFunc(slices.Clone(g), func(c diskCase) bool { return only != "all" && !slices.Contains(strings.Split(only, ","), c.book) })
		if len(g) > 0 {
			groups = append(groups, g)
		}
	}
	if len(groups) == 0 {
		return fmt.Errorf("there is no runbook %s of Super Disks", only)
	}
	hands := make(chan struct{}, atOnce)
	errs := make([]error, len(groups))
	until := time.Now().Add(within)
	var all sync.WaitGroup
	for i, g := range groups {
		all.Go(func() {
			hands <- struct{}{}
			defer func() { <-hands }()
			errs[i] = r.disksOf(ctx, g, goOn, until)
		})
	}
	all.Wait()
	return errors.Join(append(errs, r.page())...)
}

// disksOf attacks the runbooks of a group, one after the other.
func (r rack) disksOf(ctx context.Context, cases []diskCase, goOn string, until time.Time) (err error) {
	d := &disks{lab: "disks", machines: map[string]guest{}, work: goOn, tries: int(time.Now().Unix() % 1e6)}
	if d.program, err = filepath.Abs(r.program); err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if goOn == "" {
		if d.work, err = os.MkdirTemp("", "disks-"); err != nil {
			return fmt.Errorf("make a folder for the tries: %w", err)
		}
	}
	d.home = home{program: d.program, folder: filepath.Join(d.work, "home"), cluster: d.lab, lease: disksLease, patience: disksPatience}
	d.lookup = mixed{program: d.program, product: "mariadb", home: d.home.folder, lab: d.lab}
	fmt.Fprintf(os.Stderr, "== Super Disks; tries in %s\n", d.work)
	defer func() {
		_, down := d.plimsoll(context.WithoutCancel(ctx), "lab", "down", d.lab)
		err = errors.Join(err, down)
	}()
	if goOn == "" {
		err = d.up(ctx)
	}
	if err == nil {
		err = d.connect(ctx)
	}
	if err == nil && goOn == "" {
		err = d.prepare(ctx)
	}
	if err == nil && goOn != "" {
		err = d.findData(ctx)
	}
	if err != nil {
		return err
	}
	troubled := false
	for i, c := range cases {
		share := time.Until(until) / time.Duration(len(cases)-i)
		res, err := d.attack(ctx, c, time.Now().Add(share), r.keepDisks)
		if err != nil {
			return fmt.Errorf("%s: %w", c.book, err)
		}
		troubled = troubled || len(res.Troubled) > 0
	}
	if troubled {
		return errTroubles
	}
	return os.RemoveAll(d.work)
}

// keepDisks writes the result of an attack, which may be under way.
func (r rack) keepDisks(res disksResult) error {
	data, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.results, disksPrefix+filepath.Base(res.Runbook)+".json"), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	return nil
}

// plimsoll runs a command for the attack itself.
func (d *disks) plimsoll(ctx context.Context, args ...string) (string, error) {
	a := copies{program: d.program, home: d.home}
	return a.plimsoll(ctx, args...)
}

// disksBooks are runbooks of this attack.
var disksBooks = map[string]string{
	"ledger.yaml": mixedBooks["ledger.yaml"],
	"stop.yaml":   "runbook: attack/stop\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: stop, uses: server.stop, with: {node: \"${{ inputs.node }}\"}}]\n",
	"start.yaml":  "runbook: attack/start\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: start, uses: server.start, with: {node: \"${{ inputs.node }}\"}}]\n",
	"lose.yaml":   "runbook: attack/lose\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: lose, uses: fault.kill-machine, with: {node: \"${{ inputs.node }}\"}}]\n",
	"boot.yaml":   "runbook: attack/boot\nlock: none\ninputs: {node: {type: node, about: Which.}}\nsteps: [{id: boot, uses: machine.boot, with: {node: \"${{ inputs.node }}\"}}]\n",
}

// do runs a runbook of this attack on a node, or one that ships; nobody kills it.
func (d *disks) do(ctx context.Context, book string, inputs ...string) error {
	if strings.HasSuffix(book, ".yaml") {
		book = filepath.Join(d.work, book)
	}
	h := d.home
	h.store = filepath.Join(d.work, "own")
	args := []string{"runbook", "run", book, "--cluster", d.lab, "--yes", "--json"}
	for _, in := range inputs {
		args = append(args, "-i", in)
	}
	if s := h.call(ctx, nil, 0, nil, args...); s.Code != 0 {
		return fmt.Errorf("plimsoll %s: code %d: %s %s", strings.Join(args, " "), s.Code, tail(s.Err), tail(s.Out))
	}
	return ctx.Err()
}

// up makes the lab: n1 has the data on its local disk, and n2 is a spare machine with a blank one.
func (d *disks) up(ctx context.Context) error {
	flags := []string{"lab", "up", "mariadb", "--name", d.lab, "--machines", "--nodes", "2"}
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
	for _, node := range []string{"n1", "n2"} {
		if err := d.reach(ctx, node); err != nil {
			return err
		}
	}
	d.network, err = d.volume(ctx, "n1", "network")
	return err
}

// findData finds the machine with the data, in a lab that was left in the middle of an attack.
func (d *disks) findData(ctx context.Context) (err error) {
	for _, node := range []string{"n1", "n2"} {
		if d.files, err = d.machines[node].sh(ctx, "fsfreeze -u /mnt/data 2>/dev/null; cd /mnt/data/truth && sha256sum f*"); err == nil {
			d.at = node
			return nil
		}
	}
	return err
}

// prepare fills the data, and makes n2 a spare machine.
func (d *disks) prepare(ctx context.Context) (err error) {
	if err := d.do(ctx, "ledger.yaml"); err != nil {
		return err
	}
	if err := d.do(ctx, "stop.yaml", "node=n2"); err != nil {
		return err
	}
	if err := d.blank(ctx, "n2"); err != nil {
		return err
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

// wipe makes a disk blank.
func wipe(device string) string {
	return fmt.Sprintf("mdadm -q --zero-superblock %[1]s 2>/dev/null; wipefs -qa %[1]s; dd if=/dev/zero of=%[1]s bs=1M count=2 oflag=direct conv=notrunc status=none || exit 1\n", device)
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

func (r *disksResult) add(t *diskTry) {
	r.Tries++
	r.Runs += t.Runs
	r.Kills += t.Kills
	r.Undos += t.Undos
	r.Looks += t.Looks
	r.Compared += t.Compared
	for _, m := range t.Moments {
		if !slices.Contains(r.Moments, m) {
			r.Moments = append(r.Moments, m)
		}
	}
	for end, n := range t.Ends {
		r.Ends[end] += n
	}
	if len(t.Troubles) > 0 {
		r.Troubled = append(r.Troubled, t)
	}
}

func (t *diskTry) line() string {
	text := fmt.Sprintf("%s, %s: %d kills, %d of an undo, ends", t.book, t.What, t.Kills, t.Undos)
	for _, end := range slices.Sorted(maps.Keys(t.Ends)) {
		text += fmt.Sprintf(" %s %d", end, t.Ends[end])
	}
	for _, trouble := range t.Troubles {
		text += "\n  TROUBLE: " + trouble
	}
	return text
}
