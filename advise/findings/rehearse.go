package findings

import (
	"fmt"
	"math"

	"plimsoll/watch/storage"
)

// A lab on one machine does some this many operations on its disk a second; what asks for more is rehearsed at a fraction of it.
const labIOPS = 300

// perLookup is how many pages the workload of the rehearsal reads for each request: one of an index and one of a table.
const perLookup = 2

// onLabDisks is the command that puts today's volume beside another one in a lab, each scaled, under a load that asks as much of its disk as the
// busiest ten seconds did.
func (in Input) onLabDisks(v storage.Volume) string {
	if v.Type == "local" || in.Volume.Type == "local" || v == *in.Volume {
		return ""
	}
	part := math.Max(math.Ceil(in.use.Peak/labIOPS), 1)
	rate := math.Max(math.Round(in.use.Peak/part/perLookup), 1)
	today := ""
	if in.Volume.Bucket().Size > 0 {
		today = "balance: 0.2 %, "
	}
	return fmt.Sprintf("plimsoll trial run examples/burst-bucket/volume.yaml --set load.rate=%.0f --set 'cluster.disk=%s' --set 'compare.variant.other.disk=%s'",
		rate, labDisk(*in.Volume, part, today), labDisk(v, part, ""))
}

// labDisk writes a volume as a trial's disk, of which everything is divided by part.
func labDisk(v storage.Volume, part float64, balance string) string {
	s := fmt.Sprintf("{type: %s, size: %.0fG, ", v.Type, v.GiB)
	if extraIOPS(v) > 0 {
		s += fmt.Sprintf("iops: %.0f, ", v.Base())
	}
	if extraMiBs(v) > 0 {
		s += fmt.Sprintf("throughput: %.0f, ", v.MiBs)
	}
	if v.Volumes > 0 {
		s += fmt.Sprintf("volumes: %d, ", v.Volumes)
	}
	if v.Managed {
		s += "managed: true, "
	}
	return s + balance + fmt.Sprintf("scale: 1/%.0f}", part)
}
