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
	"plimsoll/loader"
	"plimsoll/workload"
	"plimsoll/workload/custom"
)

// Loaders are the machines that a load can be issued from, by name.
func Loaders() map[string]func() (loader.Loader, error) {
	return map[string]func() (loader.Loader, error){"local": localLoader}
}

// localLoader is a process of this program on this machine.
func localLoader() (loader.Loader, error) {
	m, err := Machine()
	if err != nil {
		return loader.Loader{}, err
	}
	self, err := program()
	return loader.Loader{Machine: m, Program: self}, err
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
	divisible, ok := w.(workload.Divisible)
	if !ok {
		return loader.Source{}, fmt.Errorf("the workload %s can be issued by one process only", w.Name())
	}
	divisible.Divide(part)
	db, err := e.Open(ctx, j.Target)
	if err != nil {
		return loader.Source{}, fmt.Errorf("connect: %w", err)
	}
	if err := w.Adopt(ctx, db); err != nil {
		return loader.Source{}, errors.Join(fmt.Errorf("look at the data of %s: %w", w.Name(), err), db.Close())
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
