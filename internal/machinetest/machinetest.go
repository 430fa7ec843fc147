// Package machinetest gives tests machines with kernels of their own, and volumes that can be attached to them, hang and be lost.
package machinetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/disk"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/superdisk/seed"
)

// Main is the TestMain of tests that use these machines: the test's program is also the one that a machine begins with, and the one
// that copies a leg there.
func Main(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 1 && os.Args[1] == "machine":
		err = uml.Run(os.Args[2:])
	case len(os.Args) > 2 && os.Args[1] == "superdisk" && os.Args[2] == "seed":
		err = seed.Main(context.Background(), os.Stdin, os.Stdout)
	default:
		var status int
		if status, err = inHome(m); err == nil {
			os.Exit(status)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// inHome runs the tests with a state folder of their own.
func inHome(m *testing.M) (status int, err error) {
	home, err := os.MkdirTemp("", "plimsoll-home-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(home)
	if err := os.Setenv("PLIMSOLL_HOME", home); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// Host runs machines and keeps volumes.
type Host struct {
	*uml.Volumes

	host   infra.Machine
	kernel uml.Kernel
	base   string // of the machines' addresses: 127.21.7.

	mu       sync.Mutex
	machines map[string]string // folders by name
}

// New makes one, for a test that is not short. Machines get addresses 127.21.NET.1 and so on.
func New(t *testing.T, net int) *Host {
	t.Helper()
	if testing.Short() {
		t.Skip("boots machines")
	}
	host, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := uml.Fetch(t.Context(), host, filepath.Join(cache, "plimsoll"), func(s string) { t.Log(s) })
	if err != nil {
		t.Fatal(err)
	}
	s := &Host{host: host, kernel: kernel, base: fmt.Sprintf("127.21.%d.", net), machines: map[string]string{}}
	s.Volumes = &uml.Volumes{Host: host, Folder: t.TempDir(), Machine: func(ctx context.Context, name string) (*uml.Machine, error) {
		s.mu.Lock()
		folder := s.machines[name]
		s.mu.Unlock()
		if folder == "" {
			return nil, fmt.Errorf("no machine %s", name)
		}
		return uml.Open(ctx, host, folder)
	}}
	return s
}

// Boot starts a machine, which ends with the test.
func (s *Host) Boot(t *testing.T, name string) *uml.Machine {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s.mu.Lock()
	s.machines[name] = folder
	address := s.base + fmt.Sprint(len(s.machines))
	s.mu.Unlock()
	m, err := uml.Boot(t.Context(), s.host, folder, uml.Spec{
		Name: name, Address: netip.MustParseAddr(address), Kernel: s.kernel, Program: []string{program, "machine"}, Mark: folder,
		Shared: []string{filepath.Dir(program)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if t.Failed() {
			if said, err := os.ReadFile(filepath.Join(folder, "console.log")); err == nil {
				t.Logf("console of %s:\n%s", name, said)
			}
		}
		if err := errors.Join(m.Close(), uml.End(ctx, s.host, folder)); err != nil {
			t.Errorf("end %s: %v", name, err)
		}
	})
	return m
}

// Volume makes a volume and attaches it to a machine, if one is named.
func (s *Host) Volume(t *testing.T, size int64, machine string) string {
	t.Helper()
	v, err := s.Create(t.Context(), infra.VolumeSpec{Size: size})
	if err != nil {
		t.Fatal(err)
	}
	if machine != "" {
		if err := s.Attach(t.Context(), v.ID, machine); err != nil {
			t.Fatal(err)
		}
	}
	return v.ID
}

// Hang has a volume answer nothing, or answer again.
func (s *Host) Hang(t *testing.T, id string, hang bool) {
	t.Helper()
	c, err := s.Conditions(t.Context(), id)
	if err == nil {
		c.Hang = hang
		err = s.SetConditions(t.Context(), id, c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Limit gives a volume conditions.
func (s *Host) Limit(t *testing.T, id string, c disk.Conditions) {
	t.Helper()
	if err := s.SetConditions(t.Context(), id, c); err != nil {
		t.Fatal(err)
	}
}
