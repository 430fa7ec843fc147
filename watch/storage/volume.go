// Package storage models what a cloud's volumes give: their IOPS, the bucket from which small ones burst, and when it is empty.
//
// The formulas are AWS' own (EBS volume types, "I/O credits and burst performance"); the catalogue is as of 2026-08 and every number
// of a Volume can be given instead.
package storage

import (
	"cmp"
	"fmt"
	"time"
)

// Volume is what an instance keeps its data on.
type Volume struct {
	Type         string  `yaml:"type,required" json:"type" doc:"gp2, gp3, io1, io2, or local for disks without such limits."`
	GiB          float64 `yaml:"gib,required" json:"gib" doc:"Its size."`
	Volumes      int     `yaml:"volumes" json:"volumes,omitempty" doc:"Number of equal volumes that it is striped over. Default: 4 for managed gp2 and gp3 of 400 GiB and more, otherwise 1."`
	IOPS         float64 `yaml:"iops" json:"iops,omitempty" doc:"Provisioned IOPS. Default: what the type includes."`
	MiBs         float64 `yaml:"throughput" json:"throughput,omitempty" doc:"Provisioned throughput in MiB per second. Default: what the type includes."`
	Managed      bool    `yaml:"managed" json:"managed,omitempty" doc:"Whether it is a volume of RDS, which stripes large volumes and includes more IOPS."`
	InstanceIOPS float64 `yaml:"instance_iops" json:"instance_iops,omitempty" doc:"The class's maximum IOPS, available for a limited time."`
	InstanceBase float64 `yaml:"instance_baseline_iops" json:"instance_baseline_iops,omitempty" doc:"The class's sustained IOPS. Default: instance_iops."`
}

const (
	credits      = 5.4e6 // of a gp2 volume's full bucket
	burstTo      = 3000.0
	leastBase    = 100.0
	mostBase     = 16000.0
	perGiB       = 3.0
	stripedFrom  = 400.0            // GiB, on RDS
	instanceTime = 30 * time.Minute // a day that small classes give their most
)

// Check refuses what cannot be.
func (v Volume) Check() error {
	switch v.Type {
	case "gp2", "gp3", "local":
	case "io1", "io2":
		if v.IOPS <= 0 {
			return fmt.Errorf("a volume of type %s has provisioned IOPS: give iops", v.Type)
		}
	default:
		return fmt.Errorf("volume type %q, expected gp2, gp3, io1, io2 or local", v.Type)
	}
	if v.GiB <= 0 || v.Volumes < 0 || v.IOPS < 0 || v.MiBs < 0 || v.InstanceIOPS < 0 || v.InstanceBase < 0 {
		return fmt.Errorf("a volume of %g GiB in %d parts with %g IOPS", v.GiB, v.Volumes, v.IOPS)
	}
	return nil
}

// parts is of how many volumes it is striped.
func (v Volume) parts() float64 {
	if v.Volumes > 0 {
		return float64(v.Volumes)
	}
	if v.Managed && v.GiB >= stripedFrom && (v.Type == "gp2" || v.Type == "gp3") {
		return 4
	}
	return 1
}

// Base is the IOPS that it gives all the time; 0 of one without a limit.
func (v Volume) Base() float64 {
	n := v.parts()
	switch v.Type {
	case "gp2":
		return n * min(max(perGiB*v.GiB/n, leastBase), mostBase)
	case "gp3":
		included := burstTo
		if v.Managed && v.GiB >= stripedFrom {
			included = 12000
		}
		return max(v.IOPS, included)
	case "io1", "io2":
		return v.IOPS
	}
	return 0
}

// Burst is the IOPS that it gives while there is something in its bucket.
func (v Volume) Burst() float64 {
	if v.Type == "gp2" {
		return max(v.Base(), v.parts()*burstTo)
	}
	return v.Base()
}

// Throughput is the bytes a second that it gives at most; 0 of one without a limit.
func (v Volume) Throughput() float64 {
	n, mib := v.parts(), v.MiBs
	if mib == 0 {
		switch v.Type {
		case "gp2":
			mib = n * 250
			if v.GiB/n <= 170 {
				mib = n * 128
			}
		case "gp3":
			mib = v.IncludedMiBs()
		case "io1": // 256 KiB for each operation, up to 500 MiB/s at 32,000, and 1,000 at 64,000
			mib = max(min(v.IOPS/4, 500), v.IOPS/64)
		case "io2":
			mib = min(v.IOPS/4, 4000)
		}
	}
	return mib * (1 << 20)
}

// Provisions tells whether operations and throughput can be bought beyond what the volume includes: of gp3 on RDS only from the size on at which
// it is striped.
func (v Volume) Provisions() bool {
	switch v.Type {
	case "gp3":
		return !v.Managed || v.GiB >= stripedFrom
	case "io1", "io2":
		return true
	}
	return false
}

// Least is the smallest size that is sold of the type, in GiB, and the fewest operations a second that are provisioned of it; 0: any. By the
// documentation of AWS: CreateDBInstance (AllocatedStorage) and the valid ranges of storage of RDS, CreateVolume (Size, Iops) of EC2.
func (v Volume) Least() (gib, iops float64) {
	switch v.Type {
	case "gp2", "gp3":
		gib = 1
		if v.Managed {
			gib = 20
		}
	case "io1", "io2":
		gib, iops = 4, 100
		if v.Managed {
			gib, iops = 100, 1000
		}
	}
	return gib, iops
}

// MostIOPS is how many operations a second can be had of the type at this size, by the same documentation; 0: no limit is known.
func (v Volume) MostIOPS() float64 {
	switch v.Type {
	case "gp3":
		return min(500*v.GiB, mostBase*v.parts())
	case "io1":
		return min(50*v.GiB, 64000)
	case "io2":
		return min(1000*v.GiB, 256000)
	}
	return 0
}

// Sold refuses what cannot be bought.
func (v Volume) Sold() error {
	gib, iops := v.Least()
	service := "EBS"
	if v.Managed {
		service = "RDS"
	}
	switch most := v.MostIOPS(); {
	case v.GiB < gib:
		return fmt.Errorf("%s sells %s from %.0f GiB on", service, v.Type, gib)
	case iops > 0 && v.IOPS < iops:
		return fmt.Errorf("%s provisions %.0f operations per second of %s or more", service, iops, v.Type)
	case v.IOPS > 0 && most > 0 && v.IOPS > max(most, v.Included()):
		return fmt.Errorf("%s provisions at most %.0f operations per second of %s of %.4g GiB", service, most, v.Type, v.GiB)
	}
	return nil
}

// Included is the operations a second that a gp3 volume has without more being bought; 0 of another.
func (v Volume) Included() float64 {
	if v.Type != "gp3" {
		return 0
	}
	v.IOPS = 0
	return v.Base()
}

// IncludedMiBs is the throughput in MiB/s that a gp3 volume has without more being bought; 0 of another.
func (v Volume) IncludedMiBs() float64 {
	if v.Type != "gp3" {
		return 0
	}
	return v.parts() * 125
}

// MostMiBs is the throughput in MiB/s that can be had of the type at this size, with as many operations as that takes; 0: no limit is known.
func (v Volume) MostMiBs() float64 {
	switch v.Type {
	case "gp2":
		return v.Throughput() / (1 << 20)
	case "gp3":
		if !v.Provisions() {
			return v.IncludedMiBs()
		}
		return v.parts() * 1000
	case "io1":
		return 1000
	case "io2":
		return 4000
	}
	return 0
}

// IOPSFor is how many operations a second must be provisioned for a throughput in MiB/s: a quarter of a MiB/s for each of gp3 and io2, and of io1
// up to 500 MiB/s, beyond which it gives a sixty-fourth. 0: none.
func (v Volume) IOPSFor(mibs float64) float64 {
	switch v.Type {
	case "gp3", "io2":
		return 4 * mibs
	case "io1":
		if mibs > 500 {
			return 64 * mibs
		}
		return 4 * mibs
	}
	return 0
}

// Latency is what a request takes while nothing holds it up: of the general types and io1 about a millisecond, of io2 half of it. AWS
// says "single-digit" and "sub-millisecond"; these are usual figures and no promise.
func (v Volume) Latency() time.Duration {
	switch v.Type {
	case "gp2", "gp3", "io1":
		return time.Millisecond
	case "io2":
		return 500 * time.Microsecond
	}
	return 0
}

// String is the volume as a person names it.
func (v Volume) String() string {
	s := fmt.Sprintf("%s of %.4g GiB", v.Type, v.GiB)
	if v.IOPS > 0 {
		s += fmt.Sprintf(" with %.0f IOPS", v.IOPS)
	}
	return s
}

// Bucket is a store of I/O above what is given all the time. The zero value never empties.
type Bucket struct {
	Size  float64 // in I/Os; 0: there is none
	Base  float64 // IOPS at which it neither fills nor empties
	Level float64
}

// Bucket is that of the volume, full; there is none where it gives as much all the time.
func (v Volume) Bucket() Bucket {
	if v.Burst() <= v.Base() {
		return Bucket{}
	}
	size := v.parts() * credits
	return Bucket{Size: size, Base: v.Base(), Level: size}
}

// InstanceBucket is that of the instance's class, full: small classes give their most for half an hour a day.
func (v Volume) InstanceBucket() Bucket {
	base := cmp.Or(v.InstanceBase, v.InstanceIOPS)
	if v.InstanceIOPS <= base {
		return Bucket{}
	}
	size := (v.InstanceIOPS - base) * instanceTime.Seconds()
	return Bucket{Size: size, Base: base, Level: size}
}

// Step is the bucket after so many IOPS for a time.
func (b Bucket) Step(iops float64, over time.Duration) Bucket {
	b.Level = min(max(b.Level-(iops-b.Base)*over.Seconds(), 0), b.Size)
	return b
}

// Share is how full it is; 1 where there is none.
func (b Bucket) Share() float64 {
	if b.Size == 0 {
		return 1
	}
	return b.Level / b.Size
}

// Empties tells how long it lasts at so many IOPS; false if it does not empty.
func (b Bucket) Empties(iops float64) (time.Duration, bool) {
	if b.Size == 0 || iops <= b.Base {
		return 0, false
	}
	return time.Duration(b.Level / (iops - b.Base) * float64(time.Second)), true
}
