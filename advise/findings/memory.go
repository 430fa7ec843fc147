package findings

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/advise"
)

// poolShare is the part of a managed instance's memory that its buffer pool takes by default: {DBInstanceClassMemory*3/4}.
const poolShare = 0.75

// memory prices other sizes of the cache: instances where the class is known, sizes of one's own server else.
func (in Input) memory() (advise.Finding, bool) {
	m := in.Memory
	f := advise.Finding{About: "memory", Evidence: slices.Clone(m.Explained)}
	f.Title = fmt.Sprintf("%.0f reads a second from disk with %s of memory for pages", m.Reads, size(m.Bytes))
	leave := advise.Option{
		Name: "leave it", Price: in.now(), Risk: "reads grow with the data and the load", Undo: "nothing to undo",
		Effects: []advise.Effect{in.reads(m.Curve.Now)},
	}
	if in.Class == "" && in.Aurora == nil {
		leave.Price = in.ownPrice(m.Bytes)
	}
	if in.Aurora != nil {
		f.Evidence = append(f.Evidence, adviceOn(in).readsBilled()...)
	}
	leave.Change = leave.Price.Minus(leave.Price)
	f.Options = append(f.Options, leave)
	if in.Class == "" && in.Aurora != nil {
		return f, true // memory comes with a class there
	}
	if in.Class == "" {
		for _, p := range m.Curve.Points {
			if p.Bytes != m.Bytes && p.Source != advise.FromModel {
				f.Options = append(f.Options, in.resize(p))
			}
		}
		return f, true
	}
	listed, left := in.cheapest(in.otherClasses())
	f.Evidence = append(f.Evidence, left...)
	for _, name := range listed {
		class := in.Prices.Classes[name]
		p, known := at(m, int64(class.GiB*poolShare*(1<<30)))
		if !known {
			continue
		}
		f.Options = append(f.Options, in.instance(name, p))
	}
	return f, true
}

// otherClasses are those with no fewer processors and at most a quarter more of them than today's, or as many, by memory.
func (in Input) otherClasses() (names []string) {
	now := in.Prices.Classes[in.Class]
	for _, name := range in.Prices.ClassNames() {
		c := in.Prices.Classes[name]
		near := c.Cores >= now.Cores/2 && c.Cores <= 2*now.Cores
		if name != in.Class && near && (!onCredits(name) || onCredits(in.Class)) && c.GiB >= now.GiB/2 && c.GiB <= 4*now.GiB && c.GiB != now.GiB {
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
	best := map[kind]string{}
	of := func(name string) kind {
		c := in.Prices.Classes[name]
		return kind{c.GiB, c.Cores, c.Processor}
	}
	for _, name := range names {
		k := of(name)
		was, there := best[k]
		p, before := in.Prices.Class(name), in.Prices.Class(was)
		switch {
		case !there, p.Known() && (!before.Known() || p.Month < before.Month):
			best[k] = name
		case p.Known() == before.Known() && p.Month == before.Month && generation(name) > generation(was):
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

// resize is another size on one's own server.
func (in Input) resize(p advise.Point) advise.Option {
	o := advise.Option{
		Name: fmt.Sprintf("a buffer pool of %s", size(p.Bytes)), Effects: []advise.Effect{in.reads(p)},
		Price: in.ownPrice(p.Bytes), Risk: "the machine must have this memory free; if it swaps, the server stalls", Undo: fmt.Sprintf("set it back to %s, in the same way", size(in.Memory.Bytes)),
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
	o.Change = o.Price.Minus(in.ownPrice(in.Memory.Bytes))
	return o
}

// ownPrice is what the memory of one's own machine costs for a pool of a size, beside the volume.
func (in Input) ownPrice(bytes int64) advise.Price {
	if in.Prices.Catalogue == nil {
		return advise.Price{Unknown: "no prices"}
	}
	p := in.Prices.Memory(float64(bytes) / (1 << 30))
	if in.Volume != nil && in.Volume.Type != "local" && p.Known() {
		p = p.Plus(in.priced("", in.Volume))
	}
	return p
}

// instance is another class.
func (in Input) instance(name string, p advise.Point) advise.Option {
	class := in.Prices.Classes[name]
	o := advise.Option{
		Name: fmt.Sprintf("%s, %.0f GiB", name, class.GiB), Class: name, Effects: []advise.Effect{in.reads(p)}, Price: in.priced(name, in.Volume),
		Risk:     "the instance is replaced: a failover of one to two minutes and a cold cache that must be filled again; without a standby, minutes of downtime",
		Undo:     "change the class back, with the same failover",
		Rehearse: fmt.Sprintf("plimsoll runbook plan rds/add-replica --cluster %s -i node=%s -i name=%s-try -i class=%s", in.Cluster, in.Node, in.Node, name),
		Do:       fmt.Sprintf("plimsoll runbook plan rds/resize --cluster %s -i node=%s -i class=%s", in.Cluster, in.Node, name),
	}
	if in.Aurora != nil {
		o.Rehearse = fmt.Sprintf("plimsoll runbook plan aurora/add-reader --cluster %s -i node=%s-try -i class=%s", in.Cluster, in.Node, name)
		o.Risk = "the instance is replaced: a failover of seconds to a reader, if there is one, and a cold cache that must be filled again; without a reader, minutes of downtime"
	}
	o.Change = o.Price.Minus(in.now())
	was := in.Prices.Classes[in.Class]
	if class.Processor != was.Processor {
		o.Risk += "; other processors (" + class.Processor + "): test the load on them"
	}
	if class.Cores < was.Cores {
		o.Risk += fmt.Sprintf("; %d processors and not %d: processor time is not predicted", class.Cores, was.Cores)
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
		sizes = append(sizes, int64(in.Prices.Classes[name].GiB*poolShare*(1<<30)))
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}
