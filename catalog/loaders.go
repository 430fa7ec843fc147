package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/inventory"
	"plimsoll/loader"
	"plimsoll/workload"
	"plimsoll/workload/custom"
)

// Loader is what issues a load from a machine: local, ssh:HOST, pod:NAMESPACE/POD, or one of the inventory. nil: there is no such machine.
func Loader(name string) (*loader.Loader, error) {
	here, err := Machine()
	if err != nil {
		return nil, err
	}
	if name == inventory.Local { // a process of this program on this machine
		self, err := program()
		return &loader.Loader{Machine: here, Program: self}, err
	}
	inv, err := readInventory()
	if err != nil {
		return nil, err
	}
	reached, known := inv.Machine(name)
	if !known {
		return nil, nil
	}
	m, err := ReachedMachine(name, reached, here)
	if err != nil {
		return nil, err
	}
	return &loader.Loader{Machine: m, Place: func(ctx context.Context) (string, error) { return placeProgram(ctx, m) }, Close: m.Close}, nil
}

// loaderNames are the machines that a load can be issued from; any ssh:HOST and any pod can too.
func loaderNames() []string {
	names := []string{inventory.Local, "ssh:HOST", "pod:NAMESPACE/POD"}
	if inv, err := readInventory(); err == nil {
		names = append(names, document.SortedKeys(inv.Machines)...)
	}
	return names
}

// program is the file that this process runs, by the name it was started under.
func program() (string, error) {
	if path, err := exec.LookPath(os.Args[0]); err == nil {
		return filepath.Abs(path)
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find Plimsoll's own program: %w", err)
	}
	return self, nil
}

// OpenJob makes what a loader process issues.
func OpenJob(ctx context.Context, j loader.Job, part workload.Part) (loader.Source, error) {
	e, err := EngineOf(j.Target)
	if err != nil {
		return loader.Source{}, err
	}
	w, err := workloadOf(j, e)
	if err != nil {
		return loader.Source{}, err
	}
	divisible, ok := w.(workload.Tables)
	if !ok {
		return loader.Source{}, fmt.Errorf("only one process can issue the workload %s", w.Name())
	}
	divisible.Divide(part)
	db, err := e.Open(ctx, j.Target)
	if err != nil {
		return loader.Source{}, fmt.Errorf("connect: %w", err)
	}
	if err := w.Adopt(ctx, db); err != nil {
		return loader.Source{}, errors.Join(fmt.Errorf("check the data of %s: %w", w.Name(), err), db.Close())
	}
	return loader.Source{Operations: w.Operations(), Connect: w.Connect(db, j.Seed), Close: db.Close}, nil
}

func workloadOf(j loader.Job, e engine.Engine) (workload.Workload, error) {
	parameters, err := j.ParameterNode()
	if err != nil {
		return nil, err
	}
	if !document.IsPath(j.Workload) {
		return Workload(&document.Node{Kind: document.Scalar, Text: j.Workload}, parameters, e)
	}
	maker, err := custom.Parse(j.Workload, j.File, time.Now)
	if err != nil {
		return nil, err
	}
	return maker.New(parameters, e)
}
