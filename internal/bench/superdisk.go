package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"plimsoll/action"
	actions "plimsoll/action/superdisk"
	"plimsoll/cluster"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/internal/document"
	"plimsoll/internal/poll"
	"plimsoll/superdisk"
	"plimsoll/superdisk/seed"
)

// What a Super Disk may cost.
const (
	mostCopied    = 1.1 // bytes copied over bytes used
	longestServe  = 2 * time.Second
	longestDetach = 200 * time.Millisecond
	giveUpAfter   = 3 * time.Second
	legSize       = 768 << 20
)

// beMachine is what this program is for a machine that it boots, or for the copy on one; false if it is neither.
func beMachine(ctx context.Context) (bool, error) {
	switch {
	case len(os.Args) > 2 && os.Args[1] == "machine":
		return true, uml.Run(os.Args[2:])
	case len(os.Args) > 2 && os.Args[1] == "superdisk" && os.Args[2] == "seed":
		return true, seed.Main(ctx, os.Stdin, os.Stdout)
	}
	return false, nil
}

// superDisk loses machines, as planned and without notice, at different fillings, and has the network leg hang.
func superDisk(ctx context.Context, _ options) (err error) {
	s, err := newDisks(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	fmt.Printf("| full | the move | used MiB | seeded MiB | then by md MiB | copied over used | goal | serving after | goal | copied at |\n|---|---|---|---|---|---|---|---|---|---|\n")
	worst := 0.0
	for _, full := range []int{5, 50, 90} {
		for _, planned := range []bool{true, false} {
			ratio, err := s.move(ctx, full, planned)
			if err != nil {
				return fmt.Errorf("%d %% full: %w", full, err)
			}
			worst = max(worst, ratio)
		}
	}
	if err := s.gaps(ctx); err != nil {
		return err
	}
	if err := s.governed(ctx); err != nil {
		return err
	}
	model(worst)
	return nil
}

// model says how long a rebuild takes where the network volume is what bounds it.
func model(ratio float64) {
	const device, used = 3.75e12, 1.5e12
	minutes := func(bytes, rate float64) float64 { return bytes / rate / 60 }
	fmt.Printf("\nA rebuild of 3.75 TB of which 1.5 TB are used, when the network volume gives that many bytes a second and nothing else bounds it, with the worst ratio from above, %.2f: "+
		"%.0f min at 1 GB/s, %.0f min at 625 MB/s. All of the device at 1 GB/s: %.0f min; at 200 MB/s, where md stops by default: %.1f h.\n",
		ratio, minutes(used*ratio, 1e9), minutes(used*ratio, 625e6), minutes(device, 1e9), minutes(device, 200e6)/60)
}

// disks are machines and volumes of this host.
type disks struct {
	*uml.Volumes
	host   infra.Machine
	kernel uml.Kernel
	folder string
	booted int
}

func newDisks(ctx context.Context) (*disks, error) {
	host, err := local.New()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	kernel, err := uml.Fetch(ctx, host, filepath.Join(cache, "plimsoll"), func(string) {})
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return nil, err
	}
	if err := os.Setenv("PLIMSOLL_HOME", filepath.Join(folder, "home")); err != nil { // where actions record the legs
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	s := &disks{host: host, kernel: kernel, folder: folder}
	s.Volumes = &uml.Volumes{Host: host, Folder: filepath.Join(folder, "volumes"), Machine: func(ctx context.Context, name string) (*uml.Machine, error) {
		return uml.Open(ctx, host, filepath.Join(folder, name))
	}}
	return s, nil
}

func (s *disks) close() error {
	return errors.Join(uml.End(context.Background(), s.host, s.folder), os.RemoveAll(s.folder))
}

func (s *disks) boot(ctx context.Context) (disked, error) {
	s.booted++
	self, err := os.Executable()
	if err != nil {
		return disked{}, err
	}
	name := "m" + strconv.Itoa(s.booted)
	at := filepath.Join(s.folder, name)
	m, err := uml.Boot(ctx, s.host, at, uml.Spec{
		Name: name, Address: netip.AddrFrom4([4]byte{127, 22, 0, byte(s.booted)}), Kernel: s.kernel, Program: []string{self, "machine"}, Mark: at,
		Shared: []string{filepath.Dir(self)},
	})
	return disked{m, name}, err
}

// disked is a machine with volumes.
type disked struct {
	*uml.Machine
	name string
}

func (m disked) sh(ctx context.Context, script string) (string, error) {
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script}})
	if err != nil {
		return "", fmt.Errorf("%s: %w", script, err)
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

// volume makes a blank one and returns its id and its device on the machine.
func (s *disks) volume(ctx context.Context, m disked) (id, device string, err error) {
	return s.volumeLike(ctx, m, infra.VolumeSpec{Size: legSize})
}

func (s *disks) volumeLike(ctx context.Context, m disked, spec infra.VolumeSpec) (id, device string, err error) {
	v, err := s.Create(ctx, spec)
	if err == nil {
		err = s.Attach(ctx, v.ID, m.name)
	}
	if err != nil {
		return "", "", err
	}
	device, err = superdisk.Resolve(ctx, m, v.ID)
	return v.ID, device, err
}

const arrayName, mounted = "bench", "/run/data"

// array makes one on a machine and fills it so far, in percent.
func (s *disks) array(ctx context.Context, m disked, full int) (network string, err error) {
	_, local, err := s.volume(ctx, m)
	if err != nil {
		return "", err
	}
	network, device, err := s.volume(ctx, m)
	if err != nil {
		return "", err
	}
	return network, s.filled(ctx, m, local, device, full)
}

// move takes the network leg to another machine and brings a blank local leg into step there.
func (s *disks) move(ctx context.Context, full int, planned bool) (ratio float64, err error) {
	old, err := s.boot(ctx)
	if err != nil {
		return 0, err
	}
	network, err := s.array(ctx, old, full)
	if err != nil {
		return 0, err
	}
	how := "lost"
	if planned {
		how = "planned"
		err = superdisk.Unmount(ctx, old, mounted)
		if err == nil {
			err = superdisk.Stop(ctx, old, superdisk.Path(arrayName))
		}
		if err == nil {
			err = s.Detach(ctx, network, old.name)
		}
		err = errors.Join(err, old.Kill(ctx))
	} else {
		err = errors.Join(old.Kill(ctx), s.ForceDetach(ctx, network, old.name))
	}
	if err != nil {
		return 0, err
	}
	m, err := s.boot(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Kill(ctx)) }()
	if err := s.Attach(ctx, network, m.name); err != nil {
		return 0, err
	}
	begun := time.Now()
	device, err := superdisk.Resolve(ctx, m, network)
	if err == nil {
		err = superdisk.StartAlone(ctx, m, arrayName, device, 4<<20)
	}
	if err == nil {
		err = superdisk.Mount(ctx, m, superdisk.Path(arrayName), mounted)
	}
	serving := time.Since(begun)
	if err != nil {
		return 0, err
	}
	_, fresh, err := s.volume(ctx, m)
	if err != nil {
		return 0, err
	}
	done, err := superdisk.Rebuild{Machine: m, Array: arrayName, Target: fresh, Role: superdisk.Local, Program: superdisk.Program, Mark: s.folder}.Run(ctx, nil)
	if err != nil {
		return 0, err
	}
	if done.Method != superdisk.Seeding {
		return 0, fmt.Errorf("rebuilt by %s: %s", done.Method, done.Why)
	}
	ratio = float64(done.Seeded+done.Tail) / float64(done.Used)
	fmt.Printf("| %d %% | %s | %d | %d | %d | %.2f | at most %.1f: %s | %.1f s | %.0f s: %s | %.0f MiB/s |\n", full, how, done.Used>>20, done.Seeded>>20, done.Tail>>20,
		ratio, mostCopied, met(ratio <= mostCopied), serving.Seconds(), longestServe.Seconds(), met(serving <= longestServe), float64(done.Seeded>>20)/done.Took.Seconds())
	return ratio, nil
}

// gaps tells how long a writer that syncs each write waits when the network leg is taken out, and when it hangs and is given up.
func (s *disks) gaps(ctx context.Context) (err error) {
	m, err := s.boot(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Kill(ctx)) }()
	network, err := s.array(ctx, m, 10)
	if err != nil {
		return err
	}
	device, err := superdisk.Resolve(ctx, m, network)
	if err != nil {
		return err
	}
	calm, err := m.worstGap(ctx, func() error { return poll.Rest(ctx, 3*time.Second) })
	if err != nil {
		return err
	}
	detach, err := m.worstGap(ctx, func() error {
		err := superdisk.Fail(ctx, m, superdisk.Path(arrayName), device)
		if err == nil {
			err = superdisk.Remove(ctx, m, superdisk.Path(arrayName), device)
		}
		return errors.Join(err, poll.Rest(ctx, time.Second))
	})
	if err != nil {
		return err
	}
	if _, err := (superdisk.Rebuild{Machine: m, Array: arrayName, Target: device, Role: superdisk.Network}).Run(ctx, nil); err != nil {
		return err
	}
	hang, err := m.worstGap(ctx, func() error { return s.givenUp(ctx, m, network) })
	if err != nil {
		return err
	}
	fmt.Printf("\n| writes that are synced, one after another | longest time between two | goal |\n|---|---|---|\n")
	fmt.Printf("| nothing happens | %.2f s | |\n", calm.Seconds())
	fmt.Printf("| the network leg is taken out cleanly | %.2f s | at most %.1f s: %s |\n", detach.Seconds(), longestDetach.Seconds(), met(detach <= longestDetach))
	most := giveUpAfter + time.Second
	fmt.Printf("| it hangs, and superdisk.give-up, which has watched it since before, takes it away (after: %.0fs) | %.2f s | at most %.0f s: %s |\n", giveUpAfter.Seconds(), hang.Seconds(), most.Seconds(), met(hang <= most))
	return nil
}

// givenUp has the network leg hang while the product's own action watches it, as superdisk/give-up-hung has it, and ends when that has taken it away.
func (s *disks) givenUp(ctx context.Context, m disked, network string) error {
	on := &cluster.Cluster{Name: arrayName, Environment: "lab", Local: s.host, Volumes: s.Volumes, List: func(context.Context) ([]cluster.Node, error) {
		return []cluster.Node{{Name: m.name, Machine: m}}, nil
	}}
	giveUp, _ := action.Find(actions.Actions(), "superdisk.give-up")
	with, err := document.Parse("with", fmt.Appendf(nil, "node: %s\narray: %s\nafter: %s\nfor: 1m", m.name, arrayName, giveUpAfter))
	if err != nil {
		return err
	}
	watching, err := giveUp.Bind(with)
	if err != nil {
		return err
	}
	looked := make(chan struct{})
	once := sync.OnceFunc(func() { close(looked) })
	ended := make(chan error, 1)
	go func() {
		out, err := watching.Act(ctx, on, action.Call{Progress: func(float64, string) { once() }})
		if err == nil && out["hung"] != true {
			err = fmt.Errorf("superdisk.give-up took nothing away: %v", out)
		}
		ended <- err
	}()
	select {
	case <-looked:
	case err := <-ended:
		return err
	}
	c, err := s.Conditions(ctx, network)
	if err == nil {
		c.Hang = true
		err = s.SetConditions(ctx, network, c)
	}
	return errors.Join(err, <-ended, poll.Rest(ctx, 2*time.Second))
}

// worstGap is the longest time between the ends of two writes while something is done.
func (m disked) worstGap(ctx context.Context, do func() error) (time.Duration, error) {
	const writing = `rm -f /run/enough; while [ ! -e /run/enough ]; do dd if=/dev/zero of=` + mounted + `/z bs=4k count=1 conv=fsync,notrunc status=none; cut -d' ' -f1 /proc/uptime; done >/run/gaps.log`
	w, err := m.Start(ctx, infra.Command{Path: "sh", Args: []string{"-c", writing}, Log: "/run/writer.log", Mark: "/writer"})
	if err != nil {
		return 0, err
	}
	if _, err := m.sh(ctx, `while [ $(wc -l </run/gaps.log 2>/dev/null || echo 0) -lt 20 ]; do sleep 0.1; done`); err != nil {
		return 0, err
	}
	err = do()
	_, ended := m.sh(ctx, "touch /run/enough")
	if err := errors.Join(err, ended, w.Wait(ctx)); err != nil {
		return 0, err
	}
	out, err := m.sh(ctx, `awk 'NR>1 && $1-l>m {m=$1-l} {l=$1} END {print m}' /run/gaps.log`)
	if err != nil {
		return 0, err
	}
	seconds, err := strconv.ParseFloat(out, 64)
	return time.Duration(seconds * float64(time.Second)), err
}
