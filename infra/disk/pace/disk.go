package pace

import (
	"fmt"

	"plimsoll/internal/document"
	"plimsoll/watch/storage"
)

// Disk is what a server keeps its data on: as slow as a cloud's volume, with its bucket. It is felt by what the kernel does not cache.
type Disk struct {
	Volume  storage.Volume `json:"volume"`
	Balance *float64       `json:"balance,omitempty"` // share of the bucket that is left when the disk begins; nil: a first disk's is full, a later one's is what there was
	Scale   float64        `json:"scale,omitempty"`   // of its limits: 0.01 is a hundredth; 0: 1. A bucket lasts as long as the real one's under a load of the same scale
}

// Limits are what requests are held to.
func (d Disk) Limits() Limits {
	l := Of(d.Volume)
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

// DiskText is a disk as a person writes it.
type DiskText struct {
	Type       string          `yaml:"type,required" doc:"gp2, gp3, io1, io2; local: no limits."`
	Size       document.Size   `yaml:"size,required" doc:"Size of the emulated volume, such as 800G. It only takes as much real disk space as the data."`
	IOPS       float64         `yaml:"iops" doc:"Provisioned IOPS. Default: what the type includes."`
	Throughput float64         `yaml:"throughput" doc:"Provisioned throughput in MiB per second. Default: what the type includes."`
	Volumes    int             `yaml:"volumes" doc:"Number of equal volumes that it is striped over. Default: 4 for managed gp2 and gp3 of 400 GiB and more, otherwise 1."`
	Managed    bool            `yaml:"managed" doc:"Whether it is a volume of RDS, which stripes large volumes and includes more IOPS."`
	Balance    *document.Share `yaml:"balance" doc:"How full the burst bucket is when the measurement begins, such as 5 %. Default: full; with lab/disk, as full as it was."`
	Scale      document.Share  `yaml:"scale" doc:"Scale of IOPS, throughput and bucket, such as 1/100: the bucket runs empty in the same time under a load of that scale. Latency is not scaled. Default 1."`
}

// Disk is the disk that is meant, or why there cannot be one.
func (t DiskText) Disk() (*Disk, error) {
	made := &Disk{Scale: float64(t.Scale), Volume: storage.Volume{
		Type: t.Type, GiB: float64(t.Size) / (1 << 30), Volumes: t.Volumes, IOPS: t.IOPS, MiBs: t.Throughput, Managed: t.Managed,
	}}
	if t.Balance != nil {
		b := float64(*t.Balance)
		made.Balance = &b
	}
	return made, made.Check()
}
