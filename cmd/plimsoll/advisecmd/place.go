package advisecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra/aws"
	"plimsoll/inventory"
	"plimsoll/watch/storage"
)

// running is what a server runs on; what is not known is empty.
type running struct {
	class   string
	volume  *storage.Volume
	multiAZ bool
}

// runsOn asks RDS where the inventory names an instance of it, and takes what the inventory or the flags say elsewhere. Flags come first.
func runsOn(ctx context.Context, site *cluster.Cluster, node cluster.Node, inv *inventory.Inventory, class, volume string) (p running, err error) {
	p = running{class: class, volume: volumeOf(inv, site.Name, node.Name)}
	if site.AWS != nil && node.Instance != "" && (class == "" || volume == "") {
		api, err := aws.OpenRDS(ctx, aws.Options{Region: site.AWS.Region, Profile: site.AWS.Profile})
		if err != nil {
			return p, err
		}
		i, err := api.Instance(ctx, node.Instance)
		if err != nil {
			return p, err
		}
		if p.class == "" {
			p.class = i.Class
		}
		p.multiAZ = i.MultiAZ
		if i.Storage.Type != "" && i.Storage.Type != "aurora" {
			p.volume = &storage.Volume{Type: i.Storage.Type, GiB: float64(i.Storage.GiB), IOPS: float64(i.Storage.IOPS), MiBs: float64(i.Storage.Throughput), Managed: true}
		}
	}
	if volume != "" {
		if p.volume, err = ParseCloudVolume(volume, p.class != ""); err != nil {
			return p, console.UsageError{Text: fmt.Sprintf("--volume %q: %v", volume, err), Hint: "gp2:800GiB, or io2:1TiB:20000 with its operations a second"}
		}
	}
	return p, nil
}

// runsOn fills in what the flags leave open: from RDS where the inventory names an instance of it, else from the inventory.
func (o *Options) runsOn(ctx context.Context, in *findings.Input, site *cluster.Cluster, inv *inventory.Inventory) error {
	node, err := site.Node(ctx, o.node)
	if err != nil {
		return err
	}
	on, err := runsOn(ctx, site, node, inv, o.Class, o.Volume)
	var typed console.UsageError
	switch {
	case errors.As(err, &typed) || ctx.Err() != nil:
		return err
	case err != nil: // the server itself can be looked at all the same
		in.NoPlace = err.Error()
		on = running{class: o.Class, volume: cmp.Or(in.Volume, volumeOf(inv, site.Name, node.Name))}
	}
	if _, known := in.Prices.Classes[on.class]; known || on.class == "" {
		in.Class = on.class
	} else {
		in.UnknownClass = on.class
	}
	in.Volume, in.MultiAZ = on.volume, in.MultiAZ || on.multiAZ
	return nil
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
	return want.Type == p.volume.Type && math.Abs(want.GiB-p.volume.GiB) <= near*want.GiB && math.Abs(want.Base()-p.volume.Base()) <= near*want.Base()
}
