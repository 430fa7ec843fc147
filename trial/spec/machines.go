package spec

import (
	"plimsoll/infra"
	"plimsoll/internal/document"
	"plimsoll/lab"
)

// Machines are the machines of a cluster's nodes, each with a kernel of its own.
type Machines struct {
	On      []string          `yaml:"on" doc:"The nodes that get a machine, by name, including nodes created later: [n3]. The servers of the others are processes of this host. Default: all."`
	Memory  document.Size     `yaml:"memory" doc:"Memory of each machine. Default: what the server needs, at least 1G."`
	Volumes map[string]Volume `yaml:"volumes" doc:"Volumes of each machine, by name: a size, or a mapping. local holds the data. Default {local: 4G}."`
}

// Volume is a volume of a machine.
type Volume struct {
	Size       document.Size `yaml:"size,required" doc:"Size, such as 2G."`
	IOPS       int           `yaml:"iops" doc:"Requests per second. Default: no limit."`
	Throughput document.Size `yaml:"throughput" doc:"Bytes per second, such as 125M. Default: no limit."`
	Kind       string        `yaml:"kind" doc:"gp2: the limits of an EBS volume of this type, with its burst bucket."`
}

// UnmarshalDocument reads a size or a mapping.
func (v *Volume) UnmarshalDocument(n *document.Node) error {
	if n.Kind == document.Scalar {
		return v.Size.UnmarshalDocument(n)
	}
	type plain Volume // without this method
	return n.Decode((*plain)(v))
}

// ForLab are the machines as a lab is asked for them.
func (m *Machines) ForLab() *lab.Machines {
	if m == nil {
		return nil
	}
	all := &lab.Machines{On: m.On, Memory: int64(m.Memory), Volumes: map[string]infra.VolumeSpec{}}
	for name, v := range m.Volumes {
		all.Volumes[name] = infra.VolumeSpec{Size: int64(v.Size), IOPS: v.IOPS, Throughput: int64(v.Throughput), Kind: v.Kind}
	}
	return all
}
