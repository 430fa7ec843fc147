package lab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"plimsoll/engine"
	"plimsoll/infra/disk/pace"
	"plimsoll/internal/poll"
	"plimsoll/lab/forgetful"
)

func diskFile(n engine.Node) string  { return path.Join(n.Dir, "disk.json") }
func diskState(n engine.Node) string { return path.Join(n.Dir, "disk-state.json") }

// putDisk writes down what a node's disk is.
func (l *layer) putDisk(ctx context.Context, n engine.Node, d *pace.Disk) (id string, err error) {
	id = rand.Text()
	data, err := json.Marshal(forgetful.Disk{ID: id, Limits: d.Limits(), Of: d, Balance: d.Balance})
	if err != nil {
		return "", err
	}
	return id, l.deps.Machine.WriteFile(ctx, diskFile(n), data, 0o600)
}

// setDisk gives the layer a disk of other limits, which one that is not there begins with.
func (l *layer) setDisk(ctx context.Context, n engine.Node, d *pace.Disk) error {
	id, err := l.putDisk(ctx, n, d)
	if err != nil || l.process == nil {
		return err
	}
	return l.awaitDisk(ctx, n, id)
}

// awaitDisk waits until the layer has taken up its disk.
func (l *layer) awaitDisk(ctx context.Context, n engine.Node, id string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := poll.Try(ctx, 20*time.Millisecond, func() error {
		s, err := l.diskState(ctx, n)
		if err == nil && s.ID != id {
			err = errors.New("it still has the previous disk")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("the file system over its data did not apply it: %w", err)
	}
	return nil
}

// diskState is how the disk was within the last second; ErrNoDisk if there is none.
func (l *layer) diskState(ctx context.Context, n engine.Node) (forgetful.DiskState, error) {
	data, err := l.deps.Machine.ReadFile(ctx, diskState(n))
	if errors.Is(err, fs.ErrNotExist) {
		return forgetful.DiskState{}, ErrNoDisk
	}
	if err != nil {
		return forgetful.DiskState{}, fmt.Errorf("read the disk's state: %w", err)
	}
	return forgetful.ReadDiskState(data)
}

// disk is a node's disk, with as much in its bucket as there was within the last second; nil if it has none.
func (l *layer) disk(ctx context.Context, n engine.Node) (*pace.Disk, error) {
	data, err := l.deps.Machine.ReadFile(ctx, diskFile(n))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var d forgetful.Disk
	if err == nil {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		return nil, fmt.Errorf("read its disk: %w", err)
	}
	if d.Of == nil {
		return nil, nil
	}
	state, err := l.diskState(ctx, n)
	if err == nil && state.ID == d.ID {
		d.Of.Balance = &state.Balance
	}
	return d.Of, err
}

// ErrNoDisk says that a cluster has no disks with limits.
var ErrNoDisk = errors.New("no disk with limits")
