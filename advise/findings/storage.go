package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/watch/storage"
)

// storage judges the operations on the disk by what the volume and the class give, and prices what would give more.
func (in Input) storage(reads []advise.Option) advise.Finding {
	v, m := *in.Volume, in.use
	class := in.Prices.Classes[in.Class]
	gives, by := limit(v, class)
	f := advise.Finding{About: "storage", Evidence: []string{
		fmt.Sprintf("%s disk operations per second, of which %.0f write; %.0f in the busiest ten seconds.", span90(m.IOPS, "%.0f"), m.Writes, m.Peak),
		describe(v, in.Balance),
	}}
	if in.Lab != nil {
		f.Evidence = append(f.Evidence, in.Lab.told())
	}
	bytes := max(m.PeakBytes, m.Bytes)
	carries, carriedBy := flow(v, class)
	if bytes > 0 && carries > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%.3g MiB per second, %.3g in the busiest ten seconds, of a maximum of %.0f sustained, set by the %s.", m.Bytes/(1<<20), bytes/(1<<20), carries/(1<<20), carriedBy))
	}
	if in.Seen != nil && !m.Counted && strings.Contains(strings.ToLower(in.Seen.Product), "mariadb") && in.Seen.Commit != nil && in.Seen.Commit.Rate.Mean > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("Not included: writes of the redo and binary logs, which this server does not count, up to two for each of %.0f commits per second. CloudWatch's WriteIOPS includes them.", in.Seen.Commit.Rate.Mean))
	}
	if class.IOPS > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("The class sustains %.0f operations and %.4g MB per second, and allows %.0f and %.4g for half an hour a day.",
			class.IOPS, class.MBps, max(class.BurstIOPS, class.IOPS), max(class.BurstMBps, class.MBps)))
	}
	seconds := lasts(v, in.Balance, m.IOPS.Mean)
	burst := v.Burst()
	most, mostBy := flowsAtMost(v, class)
	switch {
	case gives == 0:
		f.Title = "How many operations the disk sustains is unknown"
	case in.spent():
		f.Urgent = true
		f.Title = fmt.Sprintf("The burst bucket is empty, and the disk is at its limit of %.0f operations per second: the real demand may be higher than what was observed", gives)
		if math.IsNaN(in.Balance) {
			f.Title = fmt.Sprintf("The disk delivers exactly the %.0f operations per second that its volume sustains: its burst bucket is probably empty, and the real demand may be higher than what was observed", gives)
		}
		f.Evidence = append(f.Evidence, cutOff)
	case v.Bucket().Size > 0 && !math.IsInf(seconds, 1):
		f.Urgent = true
		f.Title = fmt.Sprintf("The burst ends in %s (%s to %s), and with it %.0f of %.0f operations per second", span(seconds),
			span(lasts(v, in.Balance, max(m.Peak, m.IOPS.High))), span(lasts(v, in.Balance, m.IOPS.Low)), max(m.IOPS.Mean-gives, 0), m.IOPS.Mean)
	case m.Peak >= 0.97*gives && (v.Bucket().Size == 0 || m.Peak >= 0.97*burst):
		f.Urgent = true
		f.Title = fmt.Sprintf("The disk is at its limit of %.0f operations per second, set by the %s: the real demand may be higher than what was observed", gives, by)
		f.Evidence = append(f.Evidence, cutOff)
	case carries > 0 && bytes >= 0.97*most:
		f.Urgent = true
		f.Title = fmt.Sprintf("The disk is at its limit of %.0f MiB per second, set by the %s: the real demand may be higher than what was observed", most/(1<<20), mostBy)
		f.Evidence = append(f.Evidence, cutOff)
	case m.Peak > headroom*gives:
		f.Title = fmt.Sprintf("The busiest ten seconds take %.0f %% of what the %s sustains", 100*m.Peak/gives, by)
	case carries > 0 && bytes > headroom*carries:
		f.Title = fmt.Sprintf("The busiest ten seconds take %.0f %% of the throughput that the %s sustains", 100*bytes/carries, carriedBy)
	default:
		f.Title = fmt.Sprintf("The disk has headroom: at most %.0f of %.0f operations per second", m.Peak, gives)
	}
	f.Options = append(f.Options, in.storageOption("leave it", v, in.Balance))
	if in.Seen.Warming() {
		w := in.Seen.WarmUp
		if f.Urgent {
			f.Evidence = append(f.Evidence, "As long as the warm-up goes on: "+f.Title+".")
		}
		f.Title = "No volume follows from a warm-up: " + w.Told()
		f.Evidence = append(f.Evidence, fmt.Sprintf("It reads %.0f pages a second into its buffer pool, which end once that is full: what the load asks of the disk is less. Observe again %s.", w.Reads, advise.WarmUpEnds))
		return f
	}
	if gives == 0 {
		return f
	}
	if !f.Urgent && m.Peak <= headroom*gives && (carries == 0 || bytes <= headroom*carries) {
		f.Options = append(f.Options, in.cheaper(v, m.Peak, bytes)...)
		return f
	}
	for _, o := range in.otherVolumes(v, max(m.Peak, m.IOPS.Mean), bytes) {
		f.Options = append(f.Options, in.storageOption(o.name, o.volume, math.NaN()))
	}
	need := slices.Repeat([]asked{{max(m.Peak, m.IOPS.Mean), bytes}}, len(f.Options))
	for _, s := range in.sparing(reads) {
		f.Options, need = append(f.Options, s.Option), append(need, s.asked)
	}
	if !advise1(f.Options, need) {
		f.Evidence = append(f.Evidence, fmt.Sprintf("No option is marked as advised: of those with a known price, none sustains the busiest ten seconds at %.0f %% of its limits.", 100*headroom))
	}
	return f
}

// cheaper is gp3 in place of a gp2 volume that has room, of the same size. The one that gives no less than gp2 does at its most is advised if it costs
// less. One with less throughput is listed beside it if it costs less still and the busiest ten seconds leave room in that too.
func (in Input) cheaper(v storage.Volume, iops, bytes float64) (options []advise.Option) {
	if v.Type != "gp2" {
		return nil
	}
	gp3 := v
	gp3.Type, gp3.Volumes, gp3.IOPS, gp3.MiBs = "gp3", 0, 0, 0
	as, can := provisioned(gp3, v.Burst(), v.Throughput()/(1<<20))
	if can {
		if o := in.storageOption(fmt.Sprintf("gp3 of %s with %s", gib(as.GiB), sold(as)), as, math.NaN()); !o.Change.Known() || o.Change.Month < 0.5 {
			o.Advised = o.Change.Known() && o.Change.Month < -0.5
			options = append(options, o)
		}
	}
	if less, can := provisioned(gp3, max(v.Burst(), iops/headroom), bytes/headroom/(1<<20)); can && less != as && bytes > 0 {
		if o := in.storageOption(fmt.Sprintf("gp3 of %s with %s", gib(less.GiB), sold(less)), less, math.NaN()); o.Change.Known() && o.Change.Month < -0.5 {
			o.Risk += fmt.Sprintf("; %.0f MiB per second at most, and not %.0f: another hour may need more than was observed", less.Throughput()/(1<<20), v.Throughput()/(1<<20))
			options = append(options, o)
		}
	}
	return options
}

// cutOff is said of what was observed at a limit.
const cutOff = "The observation is cut off at the limit: predictions of reads are based on less than the real demand, and a volume that is advised for it may be too small. Observe again after a change."

// spent tells whether the volume's bucket is empty and it gives what it sustains: it is known to be empty, or nothing but the limit keeps the
// operations where they are all the time.
func (in Input) spent() bool {
	const (
		emptied = 0.005 // of the bucket: what a rate near the limit leaves in it
		near    = 0.03
		around  = 0.1 // the server does not count each write of its logs
	)
	gives, by := limit(*in.Volume, in.Prices.Classes[in.Class])
	if in.Volume.Bucket().Size == 0 || by != "volume" {
		return false
	}
	if math.IsNaN(in.Balance) {
		return in.use.IOPS.Mean >= (1-near)*gives && in.use.Peak <= (1+near)*gives
	}
	return in.Balance < emptied && in.use.Peak >= (1-around)*gives && in.use.Peak <= (1+around)*gives
}

// told says what is observed of a lab's disk.
func (l LabDisk) told() string {
	s := "This is the disk of lab " + l.Name + ", which imitates the volume"
	if l.Scale != 1 {
		s += fmt.Sprintf(" with 1/%.4g of its limits: operations and bytes are shown times %.4g, as the whole volume would have them", 1/l.Scale, 1/l.Scale)
	}
	return s + "."
}

// flowsAtMost is the throughput that volume and class give for a while, in bytes a second, and which of them sets it.
func flowsAtMost(v storage.Volume, class price.Class) (most float64, by string) {
	most, by = v.Throughput(), "volume"
	if burst := max(class.BurstMBps, class.MBps) * 1e6; burst > 0 && (most == 0 || burst < most) {
		most, by = burst, "instance"
	}
	return most, by
}

func describe(v storage.Volume, balance float64) string {
	if v.Base() == 0 {
		return fmt.Sprintf("The volume is %s of %s: how many operations per second it sustains is unknown.", v.Type, gib(v.GiB))
	}
	s := fmt.Sprintf("The volume is %s of %s: %.0f operations per second sustained", v.Type, gib(v.GiB), v.Base())
	if v.Bucket().Size > 0 {
		s += fmt.Sprintf(", %.0f while it bursts", v.Burst())
		if math.IsNaN(balance) {
			return s + "; the fill level of its burst bucket is unknown and assumed to be full: use --balance, or watch its BurstBalance."
		}
		s += fmt.Sprintf("; its bucket is %s %% full", percent(balance))
	}
	return s + "."
}

// percent is a share in percent, with decimals where it is small.
func percent(share float64) string {
	if share >= 0.01 {
		return fmt.Sprintf("%.0f", 100*share)
	}
	return fmt.Sprintf("%.2g", 100*share)
}

type candidate struct {
	name   string
	volume storage.Volume
}

// otherVolumes are those that would hold the rate and the throughput, in bytes a second, with room: the smallest change of each kind.
func (in Input) otherVolumes(v storage.Volume, iops, bytes float64) []candidate {
	need, needMiBs := iops/headroom, bytes/headroom/(1<<20)
	var all []candidate
	if v.Type == "gp2" {
		larger := v
		larger.Volumes = 0
		if size := grown(v, math.Ceil(need/3)); need > 3*v.GiB && size <= 5334 {
			larger.GiB = size
			all = append(all, candidate{fmt.Sprintf("grow it to %s", gib(size)), larger})
		}
		if v.Managed && v.GiB < 400 {
			striped := v
			striped.GiB, striped.Volumes = grown(v, 400), 0
			all = append(all, candidate{fmt.Sprintf("grow it to %s: four volumes", gib(striped.GiB)), striped})
		}
	}
	gp3 := v
	gp3.Type, gp3.Volumes, gp3.IOPS, gp3.MiBs = "gp3", 0, 0, 0
	if v.Type != "gp3" || gp3.Base() < need || gp3.IncludedMiBs() < needMiBs {
		if o, can := provisioned(gp3, need, needMiBs); can {
			all = append(all, candidate{fmt.Sprintf("gp3 of %s with %s", gib(o.GiB), sold(o)), o})
		} else if v.Type != "gp3" && gp3.Base() > v.Base() { // not enough, and all the time
			all = append(all, candidate{fmt.Sprintf("gp3 of %s with %s", gib(gp3.GiB), sold(gp3)), gp3})
		}
		if v.Managed && v.GiB < 400 {
			striped := gp3
			striped.GiB = grown(v, 400)
			if o, can := provisioned(striped, need, needMiBs); can && extraIOPS(o) == 0 && extraMiBs(o) == 0 {
				all = append(all, candidate{fmt.Sprintf("gp3 of %s: 12,000 operations a second are included", gib(o.GiB)), o})
			} else if can {
				all = append(all, candidate{fmt.Sprintf("gp3 of %s with %s", gib(o.GiB), sold(o)), o})
			}
		}
	}
	if v.Type != "io1" && v.Type != "io2" || v.IOPS < need || v.Throughput() < needMiBs*(1<<20) {
		io2 := v
		io2.Type, io2.Volumes, io2.IOPS, io2.MiBs = "io2", 0, 0, 0
		if least, _ := io2.Least(); io2.GiB < least {
			io2.GiB = grown(v, least)
		}
		if o, can := provisioned(io2, need, needMiBs); can {
			all = append(all, candidate{fmt.Sprintf("io2 of %s with %.0f operations a second", gib(o.GiB), o.IOPS), o})
		}
	}
	return all
}

// provisioned is a volume with as much bought as a rate and a throughput in MiB/s take; false: it cannot be had.
func provisioned(v storage.Volume, iops, mibs float64) (storage.Volume, bool) {
	if v.Type == "gp3" && mibs > v.IncludedMiBs() {
		v.MiBs = math.Ceil(mibs/25) * 25
	}
	if v.MiBs > 0 || v.Type != "gp3" {
		iops = max(iops, v.IOPSFor(max(v.MiBs, mibs)))
	}
	if v.Base() < iops {
		v.IOPS = math.Ceil(iops/100) * 100
	}
	if _, least := v.Least(); v.IOPS < least {
		v.IOPS = least
	}
	bought := extraIOPS(v) > 0 || extraMiBs(v) > 0
	return v, (!bought || v.Provisions()) && mibs <= v.MostMiBs() && v.Sold() == nil
}

// grown is the size that a volume has once it was asked to grow: RDS grows one by a tenth at least (AllocatedStorage of ModifyDBInstance).
func grown(v storage.Volume, gib float64) float64 {
	if v.Managed {
		return max(gib, math.Ceil(1.1*v.GiB))
	}
	return gib
}

// sold says what a volume of gp3 gives.
func sold(v storage.Volume) string {
	s := fmt.Sprintf("%.0f operations a second", v.Base())
	if v.MiBs > 0 {
		s += fmt.Sprintf(" and %.0f MiB a second", v.MiBs)
	}
	return s
}

func (in Input) storageOption(name string, v storage.Volume, balance float64) advise.Option {
	m := in.use
	class := in.Prices.Classes[in.Class]
	gives, by := limit(v, class)
	o := advise.Option{Name: name, Price: in.priced(in.Class, &v), Change: costs{in}.ofVolume(v)}
	nowGives, _ := limit(*in.Volume, class)
	note := ""
	if by == "instance" {
		note = "the class allows no more"
	}
	if gives > 0 { // else nothing is known of it
		o.Effects = append(o.Effects, advise.Effect{What: sustained, Unit: "per_second", Now: nowGives, Then: gives, Low: gives, High: gives, Note: note})
	}
	if in.spent() {
		e := advise.Effect{What: ended, Unit: "seconds", Then: advise.Forever, Low: advise.Forever, High: advise.Forever}
		if after := finite(lasts(v, balance, max(m.Peak, m.IOPS.Mean))); v == *in.Volume {
			e.Then, e.Low, e.High = 0, 0, 0
		} else if after < advise.Forever {
			e.Then, e.Low, e.High = after, 0, after
		}
		o.Effects = append(o.Effects, e)
	} else if before, after := lasts(*in.Volume, in.Balance, m.IOPS.Mean), lasts(v, balance, m.IOPS.Mean); !math.IsInf(before, 1) || !math.IsInf(after, 1) {
		o.Effects = append(o.Effects, advise.Effect{
			What: ended, Unit: "seconds", Now: finite(before), Then: finite(after), Low: finite(lasts(v, balance, max(m.Peak, m.IOPS.High))), High: finite(lasts(v, balance, m.IOPS.Low)),
		})
	}
	if most, by := flow(v, class); most > 0 && m.Bytes > 0 {
		note, now := "", 0.0
		if by == "instance" {
			note = "the class allows no more"
		}
		now, _ = flow(*in.Volume, class)
		o.Effects = append(o.Effects, advise.Effect{What: throughput, Unit: "bytes_per_second", Now: now, Then: most, Low: most, High: most, Note: note})
	}
	o.Risk, o.Undo = in.changing(name, v)
	o.Rehearse = in.onLabDisks(v)
	if v != *in.Volume {
		o.Volume = VolumeText(v)
	}
	switch {
	case v == *in.Volume:
	case in.Lab != nil:
		o.Do, o.AtOnce = fmt.Sprintf("plimsoll lab disk %s --set %s", in.Lab.Name, in.Lab.Text(v)), true
	case in.RDS:
		o.Do = fmt.Sprintf("plimsoll runbook plan rds/grow-storage --cluster %s -i node=%s", in.Cluster, in.Node)
		if v.GiB != in.Volume.GiB {
			o.Do += fmt.Sprintf(" -i gib=%.0f", v.GiB)
		}
		if v.Type != in.Volume.Type {
			o.Do += " -i type=" + v.Type
		}
		if extraIOPS(v) > 0 {
			o.Do += fmt.Sprintf(" -i iops=%.0f", v.Base())
		}
		if extraMiBs(v) > 0 {
			o.Do += fmt.Sprintf(" -i throughput=%.0f", v.MiBs)
		}
	}
	return o
}

// What the effects of a volume are called.
const (
	throughput = "throughput at most" // MiB a second
	sustained  = "sustained operations per second"
	ended      = "until the burst ends"
)

// VolumeText writes a volume as --volume takes it: gp3:800GiB:12000:700, the last two its operations and MiB a second where they are provisioned.
func VolumeText(v storage.Volume) string {
	s := fmt.Sprintf("%s:%.0fGiB", v.Type, v.GiB)
	if extraIOPS(v) > 0 || extraMiBs(v) > 0 {
		s += fmt.Sprintf(":%.0f", v.Base())
	}
	if extraMiBs(v) > 0 {
		s += fmt.Sprintf(":%.0f", v.MiBs)
	}
	return s
}

// Text is a disk of a lab as --set takes it.
func (l LabDisk) Text(v storage.Volume) string {
	s := VolumeText(v)
	if v.Volumes > 0 {
		s += fmt.Sprintf(",volumes=%d", v.Volumes)
	}
	if v.Managed {
		s += ",managed"
	}
	if l.Scale != 1 {
		s += fmt.Sprintf(",scale=1/%.4g", 1/l.Scale)
	}
	return s
}

func finite(seconds float64) float64 { return min(seconds, advise.Forever) }

// changing says what the change itself does to the service.
func (in Input) changing(name string, v storage.Volume) (risk, undo string) {
	from := *in.Volume
	if in.Lab != nil && v != from {
		lab := in.Lab
		in.Lab = nil
		risk, undo = in.changing(name, v)
		return "a lab's disk changes at once, and keeps what is left in its bucket. In the cloud: " + risk, fmt.Sprintf("plimsoll lab disk %s --set %s. In the cloud: %s", lab.Name, lab.Text(from), undo)
	}
	switch {
	case v == from && in.spent():
		return "operations wait for the disk now, and connections pile up", "nothing to undo"
	case v == from:
		if gives, _ := limit(v, in.Prices.Classes[in.Class]); gives > 0 && in.use.IOPS.Mean > gives {
			return fmt.Sprintf("when the burst ends, %.0f of %.0f operations per second have to wait, and connections pile up", in.use.IOPS.Mean-gives, in.use.IOPS.Mean), "nothing to undo"
		}
		return "none while the load stays the same", "nothing to undo"
	case v.Managed && parts(from) != parts(v):
		return "the volume is copied to four volumes: " + hours(from.GiB) + ", during which the copy itself uses operations; no other storage change for six hours afterwards", "a new instance from a snapshot, or a replica with the old size: storage cannot shrink"
	case v.GiB > from.GiB:
		return "the volume is optimised for " + optimised(from.GiB) + " and serves meanwhile; no other change for six hours", "storage cannot shrink: a replica with the old size, promoted"
	}
	undo = "change the type back, six hours later"
	if from.Type == v.Type {
		undo = "set operations and throughput back to what they were, six hours later"
	}
	return "the volume is optimised for " + optimised(from.GiB) + " and serves meanwhile, no slower than before; no other change for six hours", undo
}

func parts(v storage.Volume) float64 {
	one := storage.Volume{Type: "gp2", GiB: v.GiB, Volumes: v.Volumes, Managed: v.Managed}
	return one.Bucket().Size / max(storage.Volume{Type: "gp2", GiB: 1, Volumes: 1}.Bucket().Size, 1)
}

// advise1 marks the cheapest option that holds what it is asked for all the time with room; of options whose change of price is unknown none. It
// tells whether there is one.
func advise1(options []advise.Option, need []asked) bool {
	best := -1
	for i, o := range options {
		if len(o.Effects) == 0 || o.Effects[0].Then < need[i].operations/headroom-1 || !o.Change.Known() {
			continue
		}
		if slices.ContainsFunc(o.Effects, func(e advise.Effect) bool { return e.What == throughput && e.Then < need[i].bytes/headroom-1 }) {
			continue
		}
		if best < 0 || o.Change.Month < options[best].Change.Month {
			best = i
		}
	}
	if best >= 0 {
		options[best].Advised = true
	}
	return best >= 0
}

func span(seconds float64) string {
	switch {
	case math.IsInf(seconds, 1):
		return "never"
	case seconds < 120:
		return fmt.Sprintf("%.0f seconds", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.0f minutes", seconds/60)
	}
	return fmt.Sprintf("%.1f hours", seconds/3600)
}

// optimised is how long a change in place goes on: AWS says up to 24 hours for a full TiB.
func optimised(gib float64) string { return fmt.Sprintf("up to %.0f hours", math.Ceil(24*gib/1024)) }

// hours is how long a copy of a volume takes at 60 to 250 MiB a second, what gp2 gives a reader beside a service. It is no promise.
func hours(gib float64) string {
	least, most := math.Ceil(gib*1024/250/3600), math.Ceil(gib*1024/60/3600)
	if least == most {
		return "an hour or more"
	}
	return fmt.Sprintf("roughly %.0f to %.0f hours", least, most)
}
