package findings

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/advise"
	"plimsoll/watch/storage"
)

// storage judges the operations on the disk by what the volume and the class give, and prices what would give more.
func (in Input) storage() advise.Finding {
	v, m := *in.Volume, in.use
	class := in.Prices.Classes[in.Class]
	gives, by := limit(v, class)
	f := advise.Finding{About: "storage", Evidence: []string{
		fmt.Sprintf("%.0f disk operations per second, of which %.0f write; %.0f in the busiest ten seconds.", m.IOPS.Mean, m.Writes, m.Peak),
		describe(v, in.Balance),
	}}
	if most := v.Throughput(); m.Bytes > 0 && most > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%.3g MiB per second, of a maximum of %.0f for the volume.", m.Bytes/(1<<20), most/(1<<20)))
	}
	if in.Seen != nil && strings.Contains(strings.ToLower(in.Seen.Product), "mariadb") && in.Seen.Commit != nil && in.Seen.Commit.Rate.Mean > 1 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("Not included: writes of the redo and binary logs, which this server does not count, up to two for each of %.0f commits per second. CloudWatch's WriteIOPS includes them.", in.Seen.Commit.Rate.Mean))
	}
	if class.IOPS > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("The class sustains %.0f operations per second, and allows %.0f for half an hour a day.", class.IOPS, max(class.BurstIOPS, class.IOPS)))
	}
	seconds := lasts(v, in.Balance, m.IOPS.Mean)
	burst := v.Burst()
	switch {
	case gives == 0:
		f.Title = "The disk has no known limit"
	case v.Bucket().Size > 0 && !math.IsInf(seconds, 1):
		f.Urgent = true
		f.Title = fmt.Sprintf("The burst ends in %s, and with it %.0f of %.0f operations per second", span(seconds), max(m.IOPS.Mean-gives, 0), m.IOPS.Mean)
	case m.Peak >= 0.97*gives && (v.Bucket().Size == 0 || m.Peak >= 0.97*burst):
		f.Urgent = true
		f.Title = fmt.Sprintf("The disk is at its limit of %.0f operations per second, set by the %s: the real demand may be higher than what was observed", gives, by)
		f.Evidence = append(f.Evidence, "The observation is cut off at the limit: predictions of reads are based on less than the real demand.")
	case m.Peak > headroom*gives:
		f.Title = fmt.Sprintf("The busiest ten seconds take %.0f %% of what the %s sustains", 100*m.Peak/gives, by)
	default:
		f.Title = fmt.Sprintf("The disk has headroom: at most %.0f of %.0f operations per second", m.Peak, gives)
	}
	f.Options = append(f.Options, in.storageOption("leave it", v, in.Balance))
	if gives == 0 || !f.Urgent && m.Peak <= headroom*gives {
		return f
	}
	for _, o := range in.otherVolumes(v, max(m.Peak, m.IOPS.Mean)) {
		f.Options = append(f.Options, in.storageOption(o.name, o.volume, math.NaN()))
	}
	advise1(f.Options, max(m.Peak, m.IOPS.Mean))
	return f
}

func describe(v storage.Volume, balance float64) string {
	s := fmt.Sprintf("The volume is %s of %s: %.0f operations per second sustained", v.Type, gib(v.GiB), v.Base())
	if v.Bucket().Size > 0 {
		s += fmt.Sprintf(", %.0f while it bursts", v.Burst())
		if math.IsNaN(balance) {
			return s + "; the fill level of its burst bucket is unknown and assumed to be full: use --balance, or watch its BurstBalance."
		}
		s += fmt.Sprintf("; its bucket is %.0f %% full", 100*balance)
	}
	return s + "."
}

type candidate struct {
	name   string
	volume storage.Volume
}

// otherVolumes are those that would hold the rate with room, the smallest change of each kind.
func (in Input) otherVolumes(v storage.Volume, iops float64) []candidate {
	need := iops / headroom
	var all []candidate
	if v.Type == "gp2" {
		larger := v
		larger.Volumes = 0
		if size := math.Ceil(need / 3); size > v.GiB && size <= 5334 {
			larger.GiB = size
			all = append(all, candidate{fmt.Sprintf("grow it to %s", gib(size)), larger})
		}
		if v.Managed && v.GiB < 400 {
			striped := v
			striped.GiB, striped.Volumes = 400, 0
			all = append(all, candidate{"grow it to 400 GiB: four volumes", striped})
		}
	}
	gp3 := v
	gp3.Type, gp3.Volumes, gp3.IOPS = "gp3", 0, 0
	if v.Type != "gp3" || gp3.Base() < need {
		if gp3.Base() < need {
			gp3.IOPS = math.Ceil(need/100) * 100
		}
		if most := 500 * v.GiB; gp3.IOPS <= most {
			all = append(all, candidate{fmt.Sprintf("gp3 of %s with %.0f operations a second", gib(gp3.GiB), gp3.Base()), gp3})
		}
		if v.Managed && v.GiB < 400 {
			striped := gp3
			striped.GiB, striped.IOPS = 400, 0
			all = append(all, candidate{"gp3 of 400 GiB: 12,000 operations a second are included", striped})
		}
	}
	if v.Type != "io1" && v.Type != "io2" || v.IOPS < need {
		io2 := v
		io2.Type, io2.Volumes, io2.IOPS = "io2", 0, math.Ceil(need/100)*100
		all = append(all, candidate{fmt.Sprintf("io2 of %s with %.0f operations a second", gib(v.GiB), io2.IOPS), io2})
	}
	return all
}

func (in Input) storageOption(name string, v storage.Volume, balance float64) advise.Option {
	m := in.use
	class := in.Prices.Classes[in.Class]
	gives, by := limit(v, class)
	price := in.priced(in.Class, &v)
	o := advise.Option{Name: name, Price: price, Change: price.Minus(in.now())}
	nowGives, _ := limit(*in.Volume, class)
	note := ""
	if by == "instance" {
		note = "the class allows no more"
	}
	o.Effects = append(o.Effects, advise.Effect{What: "sustained operations per second", Unit: "per_second", Now: nowGives, Then: gives, Low: gives, High: gives, Note: note})
	if before, after := lasts(*in.Volume, in.Balance, m.IOPS.Mean), lasts(v, balance, m.IOPS.Mean); !math.IsInf(before, 1) || !math.IsInf(after, 1) {
		o.Effects = append(o.Effects, advise.Effect{
			What: "until the burst ends", Unit: "seconds", Now: finite(before), Then: finite(after), Low: finite(lasts(v, balance, max(m.Peak, m.IOPS.High))), High: finite(lasts(v, balance, m.IOPS.Low)),
		})
	}
	if most := v.Throughput(); most > 0 && m.Bytes > 0 {
		o.Effects = append(o.Effects, advise.Effect{
			What: "throughput at most", Unit: "bytes_per_second", Now: in.Volume.Throughput(), Then: most, Low: most, High: most,
		})
	}
	o.Risk, o.Undo = in.changing(name, v)
	o.Rehearse = in.onLabDisks(v)
	if v != *in.Volume {
		o.Volume = VolumeText(v)
	}
	if v.Managed && v != *in.Volume {
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
	}
	return o
}

// VolumeText writes a volume as --volume takes it: gp3:800GiB:12000, the last its operations a second where they are provisioned.
func VolumeText(v storage.Volume) string {
	s := fmt.Sprintf("%s:%.0fGiB", v.Type, v.GiB)
	if extraIOPS(v) > 0 {
		s += fmt.Sprintf(":%.0f", v.Base())
	}
	return s
}

// Forever stands for a time that does not end, since JSON has no infinity.
const Forever = 1e12

func finite(seconds float64) float64 { return min(seconds, Forever) }

// changing says what the change itself does to the service.
func (in Input) changing(name string, v storage.Volume) (risk, undo string) {
	from := *in.Volume
	switch {
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
	return "the volume is optimised for " + optimised(from.GiB) + " and serves meanwhile, no slower than before; no other change for six hours", "change the type back, six hours later"
}

func parts(v storage.Volume) float64 {
	one := storage.Volume{Type: "gp2", GiB: v.GiB, Volumes: v.Volumes, Managed: v.Managed}
	return one.Bucket().Size / max(storage.Volume{Type: "gp2", GiB: 1, Volumes: 1}.Bucket().Size, 1)
}

// advise1 marks the cheapest option that holds the rate all the time with room; of options without a price none.
func advise1(options []advise.Option, iops float64) {
	best := -1
	for i, o := range options {
		if len(o.Effects) == 0 || o.Effects[0].Then < iops/headroom-1 || !o.Price.Known() {
			continue
		}
		if best < 0 || o.Price.Month < options[best].Price.Month {
			best = i
		}
	}
	if best >= 0 {
		options[best].Advised = true
	}
}

func span(seconds float64) string {
	switch {
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
