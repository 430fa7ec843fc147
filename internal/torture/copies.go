package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plimsoll/infra/local"
	"plimsoll/infra/uml"
)

// copies is an attack on how the legs of a Super Disk are brought into step. Plimsoll is killed at entries of its journal and in the
// middle of the copy; the disk is swapped, the machine is reset. Files are written all the time, and kept beside the array as well: what
// either leg has is compared with that.
type copies struct {
	program, work, lab string
	seed               uint64
	home               home
	disk               guest
}

// copiesPrefix begins the names of the results of these attacks.
const copiesPrefix = "copies-"

// copiesLease is short: who comes after a Plimsoll that was killed waits for its lease to end. It is prolonged three times in that time.
const copiesLease = 3 * time.Second

// The array under attack: its legs are volumes of the lab's machine, and where it is mounted.
const (
	localLeg, networkLeg = "fast", "far"
	legSize              = 384 << 20 // XFS is not made smaller than 300 MiB, and 64 MiB are left free
	copyRate             = 8 << 20   // so slow that how far it is has been kept a few times before it ends
	mostCopied           = 56 << 20  // about what is copied
	arrayAt              = "/mnt/array"
)

// copiesResult is what is kept of an attack.
type copiesResult struct {
	Seed     uint64               `json:"seed"`
	Kernel   string               `json:"kernel"`
	At       time.Time            `json:"at"`
	Took     time.Duration        `json:"took_ns"`
	Tries    int                  `json:"tries"`
	Compared int                  `json:"compared"` // files by their sha256, on a leg alone
	Swapped  int                  `json:"swapped"`  // disks that came to stand in the place of one that was being filled
	Resets   int                  `json:"resets"`   // machines that were killed and booted
	Books    map[string]*copyBook `json:"books"`
	Troubled []*copyTry           `json:"troubled,omitempty"` // tries with troubles
}

// copyBook is what the runs of one runbook came to.
type copyBook struct {
	Runs    int            `json:"runs"`
	Kills   int            `json:"kills"`
	Inside  int            `json:"inside"` // kills while a copy was under way
	Ends    map[string]int `json:"ends"`
	Methods map[string]int `json:"methods,omitempty"` // of copies that came to their end
	At      map[int]int    `json:"at,omitempty"`      // kills at an entry of the journal, or just before or after it, by the entry's number
}

// copying attacks until there were so many tries, or the time is over, and keeps what it finds. Most of a try is waiting, for leases and
// for a copy that is held to its rate: so many attacks are made at once, each with a seed, a lab and a Plimsoll of its own.
func (r rack) copying(ctx context.Context, seed uint64, tries, first int, within time.Duration, atOnce int) error {
	var all sync.WaitGroup
	errs := make([]error, atOnce)
	for i := range atOnce {
		all.Go(func() { errs[i] = r.copyingOf(ctx, seed+uint64(i), (tries+atOnce-1)/atOnce, first, within) })
	}
	all.Wait()
	return errors.Join(append(errs, r.page())...)
}

// copyingOf is one of them.
func (r rack) copyingOf(ctx context.Context, seed uint64, tries, first int, within time.Duration) (err error) {
	a := copies{seed: seed, lab: "copies"}
	if a.program, err = filepath.Abs(r.program); err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	if a.work, err = os.MkdirTemp("", "copies-"); err != nil {
		return fmt.Errorf("make a folder for the tries: %w", err)
	}
	a.home = home{program: a.program, folder: filepath.Join(a.work, "home"), store: filepath.Join(a.work, "store"), cluster: a.lab, lease: copiesLease}
	fmt.Fprintf(os.Stderr, "== attack on copies, seed %d; tries in %s\n", seed, a.work)
	res, err := a.attack(ctx, tries, first, within, r.keepCopies)
	if err == nil {
		err = r.keepCopies(res)
	}
	if err != nil {
		return fmt.Errorf("attack on copies, seed %d: %w", seed, err)
	}
	if len(res.Troubled) > 0 {
		return errTroubles
	}
	return os.RemoveAll(a.work)
}

// keepCopies writes the result of an attack, which may be under way.
func (r rack) keepCopies(res copiesResult) error {
	data, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	if err := os.WriteFile(filepath.Join(r.results, fmt.Sprintf("%s%d.json", copiesPrefix, res.Seed)), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	return nil
}

func (a *copies) attack(ctx context.Context, tries, first int, within time.Duration, keep func(copiesResult) error) (res copiesResult, err error) {
	res = copiesResult{Seed: a.seed, At: time.Now().UTC().Truncate(time.Second), Books: map[string]*copyBook{}}
	defer func() { res.Took = time.Since(res.At) }()
	defer func() {
		_, down := a.plimsoll(context.WithoutCancel(ctx), "lab", "down", a.lab)
		err = errors.Join(err, down)
	}()
	if err := a.up(ctx); err != nil {
		return res, err
	}
	if res.Kernel, err = a.disk.sh(ctx, "uname -r"); err != nil {
		return res, err
	}
	for n := first; res.Tries < tries && time.Since(res.At) < within && ctx.Err() == nil; n++ {
		began := time.Now()
		t, err := a.try(ctx, n)
		if ctx.Err() != nil {
			return res, nil // what was kept stands
		}
		if err != nil {
			return res, fmt.Errorf("try %d: %w", n, err)
		}
		res.add(t)
		res.Took = time.Since(res.At)
		fmt.Fprintf(os.Stderr, "%s, %s\n", t.line(), time.Since(began).Round(time.Second))
		if err := keep(res); err != nil {
			return res, err
		}
		if len(t.Troubles) > 0 { // what stands is for a person to look at
			return res, nil
		}
	}
	return res, nil
}

// up makes the lab: one machine with a MariaDB, which keeps the claim, and beside its data an array with files.
func (a *copies) up(ctx context.Context) error {
	leg := fmt.Sprint(legSize>>20, "M")
	flags := append([]string{"lab", "up", "mariadb", "--name", a.lab, "--machines", "--volume", "local=640M", "--volume", localLeg + "=" + leg, "--volume", networkLeg + "=" + leg}, smallServers("mariadb")...)
	if _, err := a.plimsoll(ctx, flags...); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(a.work, "reset.yaml"), []byte(resetting), 0o600); err != nil {
		return fmt.Errorf("keep a runbook: %w", err)
	}
	if err := a.reach(ctx); err != nil {
		return err
	}
	if _, err := a.plimsoll(ctx, "runbook", "run", "superdisk/create", "--cluster", a.lab, "-i", "node=n1", "-i", "local="+localLeg, "-i", "network="+networkLeg, "-i", "mount="+arrayAt, "--yes"); err != nil {
		return err
	}
	return a.disk.fill(ctx)
}

// resetting is a machine that loses its power and is started again.
const resetting = `runbook: attack/reset
lock: none
steps:
  - {id: kill, uses: fault.kill-machine, with: {node: n1}}
  - {id: boot, uses: machine.boot, with: {node: n1}}
  - {id: start, uses: server.start, with: {node: n1}}
`

// reach connects to the lab's machine.
func (a *copies) reach(ctx context.Context) error {
	host, err := local.New()
	if err != nil {
		return fmt.Errorf("reach this host: %w", err)
	}
	m, err := uml.Open(ctx, host, filepath.Join(a.home.folder, "lab", a.lab, "n1"))
	if err != nil {
		return fmt.Errorf("reach the lab's machine: %w", err)
	}
	a.disk.Machine = m
	devices, err := a.devices(ctx)
	if err != nil {
		return err
	}
	a.disk.local, a.disk.network = devices[localLeg], devices[networkLeg]
	return nil
}

// plimsoll runs a command for the attack itself.
func (a *copies) plimsoll(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, a.program, args...)
	cmd.Env = append(os.Environ(), "PLIMSOLL_HOME="+a.home.folder)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("plimsoll %s: %w: %s", strings.Join(args, " "), err, tail(problems.String()))
	}
	return string(out), nil
}

func (r *copiesResult) add(t *copyTry) {
	r.Tries++
	r.Compared += t.Compared
	r.Swapped += t.Swapped
	r.Resets += t.Resets
	for name, b := range t.Books {
		sum := r.Books[name]
		if sum == nil {
			sum = newCopyBook()
			r.Books[name] = sum
		}
		sum.add(b)
	}
	if len(t.Troubles) > 0 {
		r.Troubled = append(r.Troubled, t)
	}
}
