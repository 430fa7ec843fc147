// Package findings turns what was seen of a database into findings, and each finding into options with their effect and price.
package findings

import (
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/watch/storage"
)

// Input is what is known of a database.
type Input struct {
	Cluster, Node string
	At            time.Time
	Memory        *advise.Memory
	EachSize      bool   // each size that was predicted is listed, also those from which no page was seen to return
	NoMemory      string // why there is none
	Statements    *advise.Statements
	Seen          *advise.Seen    // what the server did; nil: it was not looked at so
	Whole         bool            // everything is asked for, and what is hardly noticed is left out
	Replicas      bool            // other servers follow this one
	Volume        *storage.Volume // what the data lies on; nil: not known
	Aurora        *Aurora         // it runs on Aurora, which has no volume; nil: it does not
	Balance       float64         // share of its bucket that is left; NaN: not known
	NoBalance     string          // why the cloud did not say how full it is
	Lab           *LabDisk        // the volume is that of a lab's servers; nil: it is a cloud's
	Class         string          // of the instance; "": not known
	RDS           bool            // the inventory names the instance at RDS, and so runbooks of RDS can change it
	Asked         []int64         // sizes of the buffer pool that were asked for
	NoPlace       string          // why the cloud did not say what the server runs on
	UnknownClass  string          // of the instance, where the catalogue does not have it
	Prices        price.Of
	MultiAZ       bool

	use advise.DiskUse
}

// LabDisk is a lab's imitation of a volume.
type LabDisk struct {
	Name  string  // of the lab
	Scale float64 // the disk's limits are this part of the volume's
}

// disk is what the server asks of its disk: as it was looked at, or as the look at its memory saw it.
func (in Input) disk() (use advise.DiskUse, known bool) {
	defer func() {
		if in.Lab != nil {
			use = use.Times(1 / in.Lab.Scale)
		}
	}()
	switch {
	case in.Seen != nil && in.Seen.Disk != nil:
		return *in.Seen.Disk, true
	case in.Memory != nil:
		m := in.Memory
		return advise.DiskUse{IOPS: advise.Figure{Mean: m.IOPS, Low: 0.9 * m.IOPS, High: max(m.Peak, m.IOPS)}, Writes: m.Writes, Peak: m.Peak}, true
	}
	return use, false
}

// Report makes the report.
func Report(in Input) *advise.Report {
	r := &advise.Report{
		Cluster: in.Cluster, Node: in.Node, At: in.At, Region: in.Prices.Region, Discount: in.Prices.Discount, Memory: in.Memory,
		Findings: []advise.Finding{}, Observed: []string{},
	}
	if in.Memory == nil && in.NoMemory != "" {
		r.Unknown = append(r.Unknown, "Memory: "+in.NoMemory)
	}
	if in.NoPlace != "" {
		r.Unknown = append(r.Unknown, noPlace(in))
	}
	if in.NoBalance != "" {
		r.Unknown = append(r.Unknown, "Burst bucket: "+in.NoBalance+". It is assumed to be full: --balance 35% says how full it is.")
	}
	use, looked := in.disk()
	if in.Memory == nil && in.Seen == nil {
		return r
	}
	if in.Seen != nil && in.Seen.Changed != "" {
		r.Unknown = append(r.Unknown, in.Seen.Changed)
	}
	in.use = use
	if in.Aurora != nil && in.Aurora.GiB == 0 && in.Memory != nil {
		in.Aurora.GiB = float64(in.Memory.Data) / (1 << 30)
	}
	var reads advise.Finding // the storage's options name what spares them
	var untold []string
	var there bool
	if in.Memory != nil {
		if reads, there = in.memory(); there {
			of := &advise.Report{}
			in.statements(of, &reads)
			r.Statements, untold = of.Statements, of.Unknown
			perRead(reads.Options, in.scale())
			reads.Evidence = append(reads.Evidence, in.scaled()...)
		}
	}
	if in.Aurora != nil {
		r.Findings, r.Observed = append(r.Findings, adviceOn(in).finding()), append(r.Observed, "storage")
	} else if in.Volume == nil {
		r.Unknown = append(r.Unknown, "Storage: the volume of the data is unknown, and so are its limits and its price: give volume in the inventory, or --volume gp2:800GiB.")
	} else if looked {
		r.Findings = append(r.Findings, in.storage(reads.Options))
		marked(r.Findings[len(r.Findings)-1].Options)
		if !in.Seen.Warming() {
			r.Observed = append(r.Observed, "storage")
		}
	}
	if in.Seen != nil {
		if c := in.Seen.Commit; c != nil && c.Rate.Mean > 0 && c.Total == nil {
			r.Unknown = append(r.Unknown, "Commits: "+untimed(c))
		} else if c != nil {
			r.Observed = append(r.Observed, "commit")
		}
		if f, there := in.commit(); there && (!in.Whole || f.Urgent || in.Seen.Commit.Waiting.Mean >= noticed*in.Seen.Commit.Sessions.Mean) {
			r.Findings = append(r.Findings, f)
		}
	}
	if in.UnknownClass != "" {
		r.Unknown = append(r.Unknown, fmt.Sprintf("Instances: the catalogue does not know the class %s, and so neither its limits nor its price: define it in a price file of your own, --prices FILE.", in.UnknownClass))
	} else if in.Class == "" {
		r.Unknown = append(r.Unknown, "Instances: the class is unknown, and so are its limits and its price: use --class db.m5.2xlarge.")
	}
	if onCredits(in.Class) {
		r.Unknown = append(r.Unknown, fmt.Sprintf("Processors: %s works on CPU credits, and what it sustains is a part of its processors: watch its CPUCreditBalance in CloudWatch. No class of this kind is advised instead of one that has its processors all the time.", in.Class))
	}
	if in.Class != "" && !in.RDS && in.Lab == nil {
		r.Unknown = append(r.Unknown, fmt.Sprintf("Commands: none changes the class or the volume of RDS here, because plimsoll.yaml names no RDS instance for %s: aws: {region: …}, and instance: NAME of the node.", in.Node))
	}
	if in.Replicas && in.Memory != nil {
		r.Unknown = append(r.Unknown, advise.OtherServers(in.Node, in.Memory))
	}
	if there {
		if len(reads.Options) > 1 && !slices.ContainsFunc(reads.Options, func(o advise.Option) bool { return o.Advised }) {
			reads.Evidence = append(reads.Evidence, unmarkedReads)
		}
		r.Findings, r.Observed = append(r.Findings, reads), append(r.Observed, "memory")
		r.Unknown = append(r.Unknown, untold...)
	}
	slices.SortStableFunc(r.Findings, func(a, b advise.Finding) int {
		switch {
		case a.Urgent == b.Urgent:
			return 0
		case a.Urgent:
			return -1
		}
		return 1
	})
	return r
}

// unmarkedReads is why none of the options about reads is marked.
const unmarkedReads = "No option is marked as advised here: how many reads are too many depends on the storage and on what the service waits for. The finding about the storage marks what its limits need."

// marked marks the options about reads of which the storage advises what they are seen from the disk.
func marked(storage []advise.Option) {
	for _, o := range storage {
		if o.Advised && o.Spares != nil {
			o.Spares.Advised = true
		}
	}
}

// noPlace says that the cloud did not tell what the server runs on.
func noPlace(in Input) string {
	if in.Aurora != nil {
		return "Aurora: " + in.NoPlace + ". Without it, what is not known has no price."
	}
	return "Class and volume: " + in.NoPlace + ". Give what is missing: --class db.m5.2xlarge --volume gp3:800GiB."
}

// now is the price a month of instance and volume as they are, and of the memory for pages in a machine of one's own whose price is known.
func (in Input) now() advise.Price { return in.priced(in.Class, in.Volume) }

func (in Input) priced(class string, v *storage.Volume) advise.Price {
	return costs{in}.priced(class, v)
}

// extraIOPS is what is provisioned beyond what the size includes.
func extraIOPS(v storage.Volume) float64 {
	switch v.Type {
	case "io1", "io2":
		return v.IOPS
	case "gp3":
		included := storage.Volume{Type: "gp3", GiB: v.GiB, Managed: v.Managed}
		return max(v.IOPS-included.Base(), 0)
	}
	return 0
}

// extraMiBs is the throughput that is bought beyond what a volume includes.
func extraMiBs(v storage.Volume) float64 {
	if v.Type != "gp3" {
		return 0
	}
	return max(v.MiBs-v.IncludedMiBs(), 0)
}

// noticed is the share of the sessions' time from which on commits are a finding among others.
const noticed = 0.05

// headroom is the share of a limit that the peak should stay under.
const headroom = 0.7

// limit is what the storage gives all the time, the volume or the class, whichever is less; 0: there is none.
func limit(v storage.Volume, class price.Class) (iops float64, by string) {
	iops, by = v.Base(), "volume"
	if class.IOPS > 0 && (iops == 0 || class.IOPS < iops) {
		iops, by = class.IOPS, "instance"
	}
	return iops, by
}

// flow is the throughput that the storage gives all the time, in bytes a second, the volume or the class, whichever is less; 0: there is no
// limit.
func flow(v storage.Volume, class price.Class) (bytes float64, by string) {
	bytes, by = v.Throughput(), "volume"
	if most := class.MBps * 1e6; most > 0 && (bytes == 0 || most < bytes) {
		bytes, by = most, "instance"
	}
	return bytes, by
}

// lasts tells how long a bucket lasts at a rate; +Inf where it does not empty.
func lasts(v storage.Volume, balance, iops float64) float64 {
	b := v.Bucket()
	if !math.IsNaN(balance) {
		b.Level = b.Size * balance
	}
	in, empties := b.Empties(iops)
	if !empties {
		return math.Inf(1)
	}
	return in.Seconds()
}

func gib(v float64) string { return fmt.Sprintf("%.4g GiB", v) }
