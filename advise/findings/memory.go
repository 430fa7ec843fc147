package findings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/hint"
)

// poolShare is the part of a managed instance's memory that its buffer pool takes by default: {DBInstanceClassMemory*3/4}.
const poolShare = 0.75

// memory prices other sizes of the cache: instances where the class is known, sizes of one's own server else.
func (in Input) memory() (advise.Finding, bool) {
	m := in.Memory
	f := advise.Finding{About: "memory", Evidence: slices.Clone(m.Explained)}
	f.Title = fmt.Sprintf("%.0f reads a second from disk with %s of memory for pages", m.Reads, size(m.Bytes))
	if m.Few() {
		f.Title = fmt.Sprintf("Hardly any reads from disk with %s of memory for pages: %.2g a second", size(m.Bytes), m.Reads)
	}
	leave := advise.Option{
		Name: "leave it", Price: in.now(), Risk: "reads grow with the data and the load", Undo: "nothing to undo",
		Effects: []advise.Effect{in.reads(m.Curve.Now)},
	}
	if in.Aurora != nil {
		f.Evidence = append(f.Evidence, adviceOn(in).readsBilled()...)
	}
	leave.Change = in.free()
	f.Options = append(f.Options, leave)
	if in.Class == "" && in.Aurora != nil {
		return f, true // memory comes with a class there
	}
	if in.Class == "" {
		for _, p := range m.Curve.Points {
			if p.Bytes != m.Bytes && (in.EachSize || p.Source != advise.FromModel) {
				f.Options = append(f.Options, pools{in}.sized(p))
			}
		}
		return f, true
	}
	same, said := pools{in}.options()
	f.Options = append(f.Options, same...)
	listed, left := in.cheapest(in.otherClasses())
	f.Evidence = append(append(f.Evidence, said...), left...)
	f.Evidence = append(f.Evidence, fmt.Sprintf("No smaller class is listed: one is judged by its server's history. When plimsoll watch has recorded %.0f days of it, ask plimsoll advise instance %s/%s --class %s.", enough.Hours()/24, in.Cluster, in.Node, in.Class))
	for _, name := range listed {
		p, known := at(m, in.poolOf(name))
		if !known {
			continue
		}
		f.Options = append(f.Options, in.instance(name, p))
	}
	return f, true
}

// OfMemory is a report of a look at a server's memory alone: each size for which reads were predicted is an option.
func OfMemory(m *advise.Memory, at Place, prices price.Of) *advise.Report {
	in := Input{Cluster: m.Cluster, Node: m.Node, At: m.At, Memory: m, EachSize: true, Prices: prices, RDS: at == RDS}
	f, _ := in.memory()
	return &advise.Report{Cluster: m.Cluster, Node: m.Node, At: m.At, Region: prices.Region, Discount: prices.Discount, Memory: m, Findings: []advise.Finding{f}, Observed: []string{"memory"}}
}

// Place is whose machine a server runs on.
type Place string

// The places.
const (
	Own Place = "own"
	RDS Place = "RDS" // or Aurora
)

// otherClasses are those that are no smaller than today's and have at most twice its processors and four times its memory, by memory. One with as much
// memory is among them if its processors are other ones, or others in number.
func (in Input) otherClasses() (names []string) {
	now := in.Prices.Classes[in.Class]
	for _, name := range in.Prices.ClassNames() {
		c := in.Prices.Classes[name]
		if name != in.Class && !smaller(c, now) && (!onCredits(name) || onCredits(in.Class)) && c.Cores <= 2*now.Cores && c.GiB <= 4*now.GiB {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := in.Prices.Classes[a].GiB - in.Prices.Classes[b].GiB; d != 0 {
			return int(d)
		}
		return strings.Compare(a, b)
	})
	return names
}

// cheapest is one class of each memory, number and kind of processors: that with the lowest price, of several the newest. A sentence names the others.
func (in Input) cheapest(names []string) (listed, left []string) {
	type kind struct {
		gib       float64
		cores     int
		processor string
	}
	of := func(name string) kind {
		c := in.Prices.Classes[name]
		return kind{c.GiB, c.Cores, c.Processor}
	}
	best := map[kind]string{}
	if in.Prices.Class(in.Class).Known() {
		best[of(in.Class)] = in.Class
	}
	for _, name := range names {
		k := of(name)
		was, there := best[k]
		p, before := in.Prices.Class(name), in.Prices.Class(was)
		switch {
		case !there, p.Known() && (!before.Known() || p.Month < before.Month):
			best[k] = name
		case p.Known() == before.Known() && p.Month == before.Month && generation(name) > generation(was) && was != in.Class: // a change that brings nothing is none
			best[k] = name
		}
	}
	var dearer, unpriced []string
	for _, name := range names {
		switch {
		case best[of(name)] == name:
			listed = append(listed, name)
		case in.Prices.Class(name).Known():
			dearer = append(dearer, name)
		default:
			unpriced = append(unpriced, name)
		}
	}
	if len(dearer) > 0 {
		left = append(left, "Not listed, since a class with as much memory and as many processors costs no more: "+strings.Join(dearer, ", ")+".")
	}
	if len(unpriced) > 0 {
		left = append(left, "Not listed, since the catalogue has no price for them: "+strings.Join(unpriced, ", ")+".")
	}
	return listed, left
}

// generation is the number in the name of a class: 6 of db.r6i.2xlarge.
func generation(class string) (n int) {
	_, family, _ := strings.Cut(class, ".")
	for _, c := range family {
		switch {
		case c >= '0' && c <= '9':
			n = 10*n + int(c-'0')
		case n > 0 || c == '.':
			return n
		}
	}
	return n
}

// onCredits tells whether a class gets its processors by credits: what it sustains is a part of them.
func onCredits(class string) bool { return strings.HasPrefix(class, "db.t") }

// at is the prediction at a size, between the points of the drawn curve; false beyond it.
func at(m *advise.Memory, bytes int64) (advise.Point, bool) {
	i := slices.IndexFunc(m.Line, func(p advise.Point) bool { return p.Bytes >= bytes })
	switch {
	case i > 0:
		a, b := m.Line[i-1], m.Line[i]
		w := float64(bytes-a.Bytes) / float64(b.Bytes-a.Bytes)
		mix := func(x, y float64) float64 { return x + w*(y-x) }
		p := b
		p.Bytes, p.Times, p.Reads, p.Low, p.High = bytes, mix(a.Times, b.Times), mix(a.Reads, b.Reads), mix(a.Low, b.Low), mix(a.High, b.High)
		return p, true
	case i == 0 && m.Line[0].Bytes == bytes:
		return m.Line[0], true
	}
	return advise.Point{}, false
}

func (in Input) reads(p advise.Point) advise.Effect {
	if p.Doubt == "" && in.Seen != nil && in.Seen.Changed != "" {
		p.Doubt = "the load changed during the observation"
	}
	return advise.Effect{What: "reads a second from disk", Unit: "per_second", Now: in.Memory.Curve.Now.Reads, Then: p.Reads, Low: p.Low, High: p.High, Note: p.Doubt, Load: in.Memory.Requests}
}

// sized is another size of the buffer pool of a server whose class is not known: at RDS and Aurora the memory comes with one.
func (in pools) sized(p advise.Point) advise.Option {
	o := in.resize(p)
	if in.RDS {
		o.Price, o.Change, o.Rehearse, o.Do = advise.Price{Unknown: unclassed}, advise.Price{Unknown: unclassed}, "", ""
		o.Risk = fmt.Sprintf("memory comes with the class there, and the parameter group sets the size: plimsoll advise %s names the classes", in.Cluster)
		o.Undo = "the size before, in the same way"
	}
	return o
}

// unclassed is why memory has no price at RDS.
const unclassed = "memory comes with the class, which is unknown"

// resize is another size on one's own server.
func (in Input) resize(p advise.Point) advise.Option {
	o := advise.Option{
		Name: fmt.Sprintf("a buffer pool of %s", size(p.Bytes)), Effects: []advise.Effect{in.reads(p)},
		Price: costs{in}.own(p.Bytes), Risk: "the machine must have this memory free; if it swaps, the server stalls", Undo: fmt.Sprintf("set it back to %s, in the same way", size(in.Memory.Bytes)),
		Rehearse: fmt.Sprintf("plimsoll runbook rehearse mysql/resize-buffer-pool --cluster %s -i node=%s -i size=%d", in.Cluster, in.Node, p.Bytes),
		Do:       fmt.Sprintf("plimsoll runbook plan mysql/resize-buffer-pool --cluster %s -i node=%s -i size=%d", in.Cluster, in.Node, p.Bytes),
		When:     map[string]string{"innodb_buffer_pool_size": strconv.FormatInt(p.Bytes, 10)},
	}
	if p.Bytes < in.Memory.Bytes {
		o.Risk = "reads from disk increase, and the server stalls for moments while it gives up pages"
		if in.Memory.Curve.Now.Reads > 0 && p.Reads <= 1.02*in.Memory.Curve.Now.Reads {
			o.Risk = "the server stalls for moments while it gives up pages; what the load of another hour would read is not in this prediction"
		}
	}
	o.Change = costs{in}.ofMemory(p.Bytes)
	return o
}

// instance is another class.
func (in Input) instance(name string, p advise.Point) advise.Option {
	class := in.Prices.Classes[name]
	o := advise.Option{
		Name: fmt.Sprintf("%s, %.0f GiB", name, class.GiB), Class: name, Effects: []advise.Effect{in.reads(p)}, Price: in.priced(name, in.Volume),
		Risk: "the instance is replaced: a failover of one to two minutes and a cold cache that must be filled again; without a standby, minutes of downtime",
		Undo: "change the class back, with the same failover",
	}
	if in.RDS {
		o.Copy = fmt.Sprintf("plimsoll runbook plan rds/add-replica --cluster %s -i node=%s -i name=%s-try -i class=%s", in.Cluster, in.Node, in.Node, name)
		o.Do = fmt.Sprintf("plimsoll runbook plan rds/resize --cluster %s -i node=%s -i class=%s", in.Cluster, in.Node, name)
	}
	if in.Aurora != nil {
		o.Copy = ""
		if in.Aurora.Named { // the new reader is a node that only its reader can add to plimsoll.yaml
			o.Copy = fmt.Sprintf("plimsoll runbook plan aurora/add-reader --cluster %s -i node=%s -i class=%s", in.Cluster, hint.FillIn, name)
		}
		o.Risk = "the instance is replaced: a failover of seconds to a reader, if there is one, and a cold cache that must be filled again; without a reader, minutes of downtime"
	}
	o.Change = costs{in}.ofClass(name)
	was := in.Prices.Classes[in.Class]
	if class.Processor != was.Processor {
		o.Risk += "; other processors (" + class.Processor + "): test the load on them"
	}
	if in.Volume != nil && in.Lab == nil {
		before := in.Memory.IOPS
		after := max(before-in.Memory.Reads+p.Reads, 0)
		o.Effects = append(o.Effects, advise.Effect{What: "disk operations per second", Unit: "per_second", Now: before, Then: after,
			Low: max(before-in.Memory.Reads+p.Low, 0), High: max(before-in.Memory.Reads+p.High, 0)})
		if gives, by := limit(*in.Volume, class); gives > 0 && after > headroom*gives {
			o.Risk += fmt.Sprintf("; %.0f %% of what the %s sustains", 100*after/gives, by)
		}
	}
	return o
}

func size(bytes int64) string {
	g := float64(bytes) / (1 << 30)
	if g < 1 {
		return fmt.Sprintf("%.4g MiB", 1024*g)
	}
	return fmt.Sprintf("%.4g GiB", math.Round(g*10)/10)
}

// Sizes are those of the buffer pools of the classes that may be advised instead of one, so that a look at the server reaches them.
func (in Input) Sizes() (sizes []int64) {
	if in.Class == "" {
		return nil
	}
	for _, name := range append(in.otherClasses(), in.Class) {
		sizes = append(sizes, in.poolOf(name))
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}
