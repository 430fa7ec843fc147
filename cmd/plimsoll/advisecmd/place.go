package advisecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/advise/price"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/hint"
	"plimsoll/infra/aws"
	"plimsoll/inventory"
	"plimsoll/watch/storage"
)

// running is what a server runs on; what is not known is empty.
type running struct {
	class   string
	volume  *storage.Volume
	multiAZ bool
	rds     bool   // the inventory names the instance
	aurora  string // the Aurora cluster that RDS says the instance belongs to
	lab     *findings.LabDisk
	balance *float64 // of the volume's burst bucket
}

// runsOn asks RDS where the inventory names an instance of it and the lab where a lab made the disk, and takes what the inventory or the flags say
// elsewhere. Flags come first.
func runsOn(ctx context.Context, on *cluster.Cluster, node cluster.Node, inv *inventory.Inventory, class, volume string) (p running, err error) {
	p = running{class: class, volume: volumeOf(inv, on.Name, node.Name), rds: onRDS(on, node)}
	if p.rds && (class == "" || volume == "") {
		api, err := aws.OpenRDS(ctx, aws.Options{Region: on.AWS.Region, Profile: on.AWS.Profile})
		if err != nil {
			return p, rdsError{err}
		}
		i, err := api.Instance(ctx, node.Instance)
		if err != nil {
			return p, rdsError{err}
		}
		if p.class == "" {
			p.class = i.Class
		}
		p.multiAZ = i.MultiAZ
		if strings.HasPrefix(i.Engine, "aurora") { // a Multi-AZ cluster of MySQL has a volume for each instance
			p.aurora, p.volume = i.Cluster, nil
		} else if i.Storage.Type != "" {
			p.volume = &storage.Volume{Type: i.Storage.Type, GiB: float64(i.Storage.GiB), IOPS: float64(i.Storage.IOPS), MiBs: float64(i.Storage.Throughput), Managed: true}
		}
	}
	if limited, can := cluster.As[cluster.DiskLimited](node.Server); can && volume == "" && p.volume == nil {
		if err := p.onDisk(ctx, on, limited); err != nil {
			return p, err
		}
	}
	if volume != "" {
		if p.volume, err = ParseCloudVolume(volume, price.Managed(p.class) || p.rds); err != nil {
			return p, console.UsageError{Text: fmt.Sprintf("--volume %q: %v", volume, err), Hint: "gp2:800GiB, or io2:1TiB:20000 with its operations a second"}
		}
	}
	return p, p.managed()
}

// rdsError is what RDS answered, or why it was not reached.
type rdsError struct{ error }

func (e rdsError) Unwrap() error { return e.error }

// noPlace says in a sentence without its end why it is not known what a server runs on.
func noPlace(err error) string {
	var rds rdsError
	if errors.As(err, &rds) {
		return unanswered(answer{"RDS", rds.error}).Error()
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(err.Error()), " "), ".")
}

// askedNode is the node that --node names, or the primary. A name that there is not is bad input.
func askedNode(ctx context.Context, on *cluster.Cluster, name string) (cluster.Node, error) {
	node, err := on.Node(ctx, name)
	if name != "" && errors.Is(err, cluster.ErrNoNode) {
		return node, console.UsageError{Text: "--node: " + err.Error(), Hint: hint.Of(err)}
	}
	return node, err
}

// managed takes the volume of an instance of RDS, or of one with a class of RDS, for one of RDS, whatever the inventory says of it. A lab's disk stays what it is: if RDS's volume of that
// size has other limits, the class is refused.
func (p *running) managed() error {
	if p.volume == nil || p.volume.Managed || p.volume.Type == "local" || !price.Managed(p.class) && !p.rds {
		return nil
	}
	v, own := *p.volume, *p.volume
	v.Managed = true
	if p.lab != nil && (v.Base() != own.Base() || v.Burst() != own.Burst() || v.Throughput() != own.Throughput()) {
		return console.UsageError{
			Text: fmt.Sprintf("%s is a class of RDS, whose %s gives other operations and MiB per second than the lab's disk, which is a volume of EBS", p.class, v),
			Hint: fmt.Sprintf("leave --class out, or: plimsoll lab disk %s --set %s", p.lab.Name, p.lab.Text(v)),
		}
	}
	p.volume = &v
	return nil
}

// onRDS tells whether the inventory says where at RDS a node runs.
func onRDS(on *cluster.Cluster, node cluster.Node) bool { return on.AWS != nil && node.Instance != "" }

// onDisk takes the disk that a lab gave a server for its volume.
func (p *running) onDisk(ctx context.Context, on *cluster.Cluster, server cluster.DiskLimited) error {
	disk, err := server.Disk(ctx)
	if err != nil {
		return fmt.Errorf("read the disk of the lab %s: %w", strings.TrimPrefix(on.Name, home.LabPrefix), err)
	}
	if disk == nil {
		return nil
	}
	p.volume, p.balance = &disk.Volume, disk.Balance
	p.lab = &findings.LabDisk{Name: strings.TrimPrefix(on.Name, home.LabPrefix), Scale: cmp.Or(disk.Scale, 1)}
	return nil
}

// bucketNow is how full the bucket of a lab's disk is after it was observed; the cloud shows it once in some minutes, and what the flags say stays.
func (o *Options) bucketNow(ctx context.Context, in *findings.Input, on *cluster.Cluster) error {
	if in.Lab == nil || o.balance != "" {
		return nil
	}
	node, err := on.Node(ctx, in.Node)
	if err != nil {
		return err
	}
	limited, can := cluster.As[cluster.DiskLimited](node.Server)
	if !can {
		return nil
	}
	disk, err := limited.Disk(ctx)
	if err == nil && disk != nil && disk.Balance != nil {
		in.Balance = *disk.Balance
	}
	return err
}

// balanceShown is how far back CloudWatch is looked at for how full a bucket is: its last minutes come late.
const balanceShown = 15 * time.Minute

// askBalance asks CloudWatch how full the bucket of an instance's volume is; nil: it has not shown it.
func askBalance(ctx context.Context, on *cluster.Cluster, instance string, now time.Time) (*float64, error) {
	api, err := aws.OpenMetrics(ctx, aws.Options{Region: on.AWS.Region, Profile: on.AWS.Profile})
	if err != nil {
		return nil, err
	}
	all, err := api.Means(ctx, []string{instance}, []string{"BurstBalance"}, now.Add(-balanceShown).Truncate(time.Minute), now)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	last := slices.MaxFunc(all, func(a, b aws.Metric) int { return a.At.Compare(b.At) })
	share := last.Value / 100
	return &share, nil
}

// runsOn fills in what the flags leave open: from RDS where the inventory names an instance of it, else from the inventory.
func (o *Options) runsOn(ctx context.Context, in *findings.Input, on *cluster.Cluster, inv *inventory.Inventory) error {
	node, err := askedNode(ctx, on, o.node)
	if err != nil {
		return err
	}
	in.Prices.Region = o.region(ctx, on.AWS)
	runs, err := runsOn(ctx, on, node, inv, o.Class, o.Volume)
	var typed console.UsageError
	switch {
	case errors.As(err, &typed) || ctx.Err() != nil:
		return err
	case err != nil: // the server itself can be looked at all the same
		in.NoPlace = noPlace(err)
		runs = running{class: o.Class, volume: cmp.Or(in.Volume, volumeOf(inv, on.Name, node.Name)), rds: onRDS(on, node)}
		if err := runs.managed(); err != nil {
			return err
		}
	}
	if _, known := in.Prices.Classes[runs.class]; known || runs.class == "" {
		in.Class = runs.class
	} else {
		in.UnknownClass = runs.class
	}
	in.Volume, in.MultiAZ, in.Lab = runs.volume, in.MultiAZ || runs.multiAZ, runs.lab
	in.RDS = runs.rds
	if in.Volume != nil && in.Volume.Bucket().Size > 0 && math.IsNaN(in.Balance) {
		if runs.balance == nil && runs.rds && o.Volume == "" {
			if runs.balance, err = askBalance(ctx, on, node.Instance, in.At); err != nil {
				in.NoBalance = err.Error()
			}
		}
		if runs.balance != nil {
			in.Balance = *runs.balance
		}
	}
	aurora, err := onAurora(ctx, on, node, runs, in.At)
	switch {
	case aurora == nil && err != nil || ctx.Err() != nil:
		return errors.Join(err, ctx.Err())
	case aurora != nil && o.Volume != "":
		return errNoVolume
	case aurora != nil:
		in.Aurora, in.Volume = aurora, nil
		if err != nil {
			in.NoPlace = err.Error()
		}
	}
	return nil
}

const (
	regionHelp    = "region of the prices (default the cluster's in plimsoll.yaml, else us-east-1)"
	defaultRegion = "us-east-1" // of a database that is not said to run at AWS
)

// region is the one whose prices count: the given one, else where the cluster runs; "": it runs at AWS, and nobody says in which region.
func (o *Options) region(ctx context.Context, at *cluster.AWS) string {
	switch {
	case o.Region != "":
		return o.Region
	case at == nil:
		return defaultRegion
	case at.Region != "":
		return at.Region
	}
	api, err := aws.OpenRDS(ctx, aws.Options{Profile: at.Profile}) // it reads the person's own configuration, and asks nothing
	if err != nil {
		return ""
	}
	return api.Region
}

// is tells whether an option's class and volume are those that there are now; of one that changes neither, yes.
func (p running) is(o advise.Option) bool {
	if o.Class != "" && o.Class != p.class {
		return false
	}
	if o.Volume == "" {
		return true
	}
	if p.volume == nil {
		return false
	}
	want, err := ParseCloudVolume(o.Volume, p.volume.Managed)
	if err != nil {
		return false
	}
	const near = 0.01 // clouds round sizes
	return want.Type == p.volume.Type && math.Abs(want.GiB-p.volume.GiB) <= near*want.GiB && math.Abs(want.Base()-p.volume.Base()) <= near*want.Base() &&
		math.Abs(want.Throughput()-p.volume.Throughput()) <= near*want.Throughput()
}
