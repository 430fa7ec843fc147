package lab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/disk/pace"
	"plimsoll/internal/poll"
	"plimsoll/lab/forgetful"
	"plimsoll/watch/storage"
)

// Disk is what nodes keep their data on: as slow as a cloud's volume, with its bucket. It is felt by what the kernel does not cache.
type Disk struct {
	Volume  storage.Volume `json:"volume"`
	Balance *float64       `json:"balance,omitempty"` // share of the bucket that is left when the disk begins; nil: a first disk's is full, a later one's is what there was
	Scale   float64        `json:"scale,omitempty"`   // of its limits: 0.01 is a hundredth; 0: 1. A bucket lasts as long as the real one's under a load of the same scale
}

// Unlimited is a disk without limits, to be given others later.
func Unlimited() *Disk { return &Disk{Volume: storage.Volume{Type: "local", GiB: 1}} }

// Limits are what requests are held to.
func (d Disk) Limits() pace.Limits {
	l := pace.Of(d.Volume)
	if d.Scale > 0 {
		l = l.Scaled(d.Scale)
	}
	return l
}

// Bucket is what is left in it when it begins; the zero value where there is none.
func (d Disk) Bucket() storage.Bucket {
	l := d.Limits()
	b := storage.Bucket{Size: l.Burst.Credits, Base: l.IOPS, Level: l.Burst.Credits}
	if d.Balance != nil {
		b.Level *= *d.Balance
	}
	return b
}

// Check says what cannot be.
func (d Disk) Check() error {
	if err := d.Volume.Check(); err != nil {
		return err
	}
	if d.Scale < 0 || d.Scale > 1 {
		return fmt.Errorf("a scale of %g, expected up to 1, such as 1/100", d.Scale)
	}
	if d.Balance != nil && (*d.Balance < 0 || *d.Balance > 1) {
		return fmt.Errorf("a balance of %g, expected a share such as 5%%", *d.Balance)
	}
	if l := d.Limits(); l.IOPS > 0 && l.IOPS < 5 {
		return fmt.Errorf("%.2g operations a second are too few for a server to start: choose a larger scale", l.IOPS)
	}
	return nil
}

// ParseDisk reads gp2:800GiB, io2:1TiB:20000 with its operations a second, and what follows by commas: balance=5%, scale=1/100,
// volumes=4, managed.
func ParseDisk(text string) (*Disk, error) {
	d := &Disk{}
	first, rest, _ := strings.Cut(text, ",")
	parts := strings.Split(first, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return nil, hint.With(fmt.Errorf("%q, expected a type and a size", first), "gp2:800GiB, or io2:1TiB:20000 with its operations a second")
	}
	d.Volume.Type = parts[0]
	bytes, err := ParseSize(parts[1])
	if err != nil {
		return nil, err
	}
	d.Volume.GiB = float64(bytes) / (1 << 30)
	if len(parts) == 3 {
		if d.Volume.IOPS, err = strconv.ParseFloat(parts[2], 64); err != nil {
			return nil, fmt.Errorf("%q is not a number of operations per second", parts[2])
		}
	}
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == ',' }) {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "balance":
			var b float64
			b, err = ParseShare(value)
			d.Balance = &b
		case "scale":
			d.Scale, err = ParseShare(value)
		case "volumes":
			d.Volume.Volumes, err = strconv.Atoi(value)
		case "managed":
			d.Volume.Managed = true
		default:
			err = fmt.Errorf("%q is not an option of a disk", key)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}

// ParseShare reads 5 %, 1/100 or 0.05.
func ParseShare(text string) (float64, error) {
	bad := fmt.Errorf("%q, expected a share such as 5%% or 1/100", text)
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	over, under, divided := strings.Cut(number, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(over), 64)
	if divided && err == nil {
		var by float64
		if by, err = strconv.ParseFloat(strings.TrimSpace(under), 64); err == nil && by == 0 {
			return 0, bad
		}
		v /= by
	}
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, bad
	}
	return v, nil
}

func diskFile(n engine.Node) string  { return path.Join(n.Dir, "disk.json") }
func diskState(n engine.Node) string { return path.Join(n.Dir, "disk-state.json") }

// putDisk writes down what a node's disk is.
func (c *Cluster) putDisk(ctx context.Context, m *member, d *Disk) (id string, err error) {
	id = rand.Text()
	data, err := json.Marshal(forgetful.Disk{ID: id, Limits: d.Limits(), Balance: d.Balance})
	if err != nil {
		return "", err
	}
	return id, c.deps.Machine.WriteFile(ctx, diskFile(m.Node), data, 0o600)
}

// SetDisk gives nodes a disk of other limits while they run, as a cloud changes a volume, but at once.
func (c *Cluster) SetDisk(ctx context.Context, d *Disk, nodes ...string) error {
	if err := d.Check(); err != nil {
		return InputError{err}
	}
	if c.record.Disk == nil {
		return hint.With(fmt.Errorf("cluster %s has no disk with limits", c.Name()), "create it with one: lab up --disk gp2:800GiB, or cluster: {disk: …} in a trial")
	}
	return c.operation(ctx, func() error {
		members, err := c.pick(nodes)
		if err != nil {
			return err
		}
		if len(nodes) == 0 { // nodes that come later have it too
			c.record.Disk = d
			if err := c.record.write(ctx, c.deps.Machine, c.folder); err != nil {
				return err
			}
		}
		for _, m := range members {
			if err := c.setDisk(ctx, m, d); err != nil {
				return fmt.Errorf("%s: change its disk: %w", m.Name, err)
			}
		}
		return nil
	})
}

func (c *Cluster) setDisk(ctx context.Context, m *member, d *Disk) error {
	id, err := c.putDisk(ctx, m, d)
	if err != nil || m.layer == nil { // one that does not run begins with it
		return err
	}
	return c.awaitDisk(ctx, m, id)
}

// awaitDisk waits until a node's layer has taken up its disk.
func (c *Cluster) awaitDisk(ctx context.Context, m *member, id string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := poll.Try(ctx, 20*time.Millisecond, func() error {
		s, err := c.DiskState(ctx, m.Name)
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

// ErrNoDisk says that a cluster has no disks with limits.
var ErrNoDisk = errors.New("no disk with limits")

// DiskState is how a node's disk was within the last second; ErrNoDisk if it has none.
func (c *Cluster) DiskState(ctx context.Context, node string) (forgetful.DiskState, error) {
	at := c.record.find(node)
	if at < 0 || c.record.Disk == nil {
		return forgetful.DiskState{}, ErrNoDisk
	}
	data, err := c.deps.Machine.ReadFile(ctx, diskState(c.record.node(at, c.folder, "")))
	if errors.Is(err, fs.ErrNotExist) {
		return forgetful.DiskState{}, ErrNoDisk
	}
	if err != nil {
		return forgetful.DiskState{}, fmt.Errorf("read the disk's state: %w", err)
	}
	return forgetful.ReadDiskState(data)
}
