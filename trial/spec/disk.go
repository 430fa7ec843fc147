package spec

import (
	"plimsoll/internal/document"
	"plimsoll/lab"
	"plimsoll/watch/storage"
)

// Disk is what every node keeps its data on: as slow as a cloud's volume, with its bucket of credits.
type Disk struct {
	Type       string  `yaml:"type,required" doc:"gp2, gp3, io1, io2; local: no limits."`
	Size       Size    `yaml:"size,required" doc:"Size of the emulated volume, such as 800G. It only takes as much real disk space as the data."`
	IOPS       float64 `yaml:"iops" doc:"Provisioned IOPS. Default: what the type includes."`
	Throughput float64 `yaml:"throughput" doc:"Provisioned throughput in MiB per second. Default: what the type includes."`
	Volumes    int     `yaml:"volumes" doc:"Number of equal volumes that it is striped over. Default: 4 for managed gp2 and gp3 of 400 GiB and more, otherwise 1."`
	Managed    bool    `yaml:"managed" doc:"Whether it is a volume of RDS, which stripes large volumes and includes more IOPS."`
	Balance    *Share  `yaml:"balance" doc:"How full the burst bucket is when the measurement begins, such as 5 %. Default: full; with lab/disk, as full as it was."`
	Scale      Share   `yaml:"scale" doc:"Scale of IOPS, throughput and bucket, such as 1/100: the bucket runs empty in the same time under a load of that scale. Latency is not scaled. Default 1."`
}

// Share is a part of a whole.
type Share float64

// UnmarshalDocument reads 5 %, 1/100 or 0.05.
func (s *Share) UnmarshalDocument(n *document.Node) error {
	v, err := lab.ParseShare(n.Text)
	if err != nil || n.Kind != document.Scalar {
		return n.Errorf("%s, expected a share such as 5 %% or 1/100", n.Said())
	}
	*s = Share(v)
	return nil
}

// ForLab is what a lab is asked for; nil if there is no disk. What cannot be is refused at a place.
func (d *Disk) ForLab(at *document.Node) (*lab.Disk, error) {
	if d == nil {
		return nil, nil //nolint:nilnil // no disk is no error
	}
	made := &lab.Disk{Scale: float64(d.Scale), Volume: storage.Volume{
		Type: d.Type, GiB: float64(d.Size) / (1 << 30), Volumes: d.Volumes, IOPS: d.IOPS, MiBs: d.Throughput, Managed: d.Managed,
	}}
	if d.Balance != nil {
		b := float64(*d.Balance)
		made.Balance = &b
	}
	if err := made.Check(); err != nil {
		return nil, at.Errorf("%v", err)
	}
	return made, nil
}

// Limited tells whether the servers of any cell have a disk with limits.
func (t *Trial) Limited() bool {
	for _, c := range t.Cells {
		if c.Disk != nil {
			return true
		}
	}
	return false
}
