package findings

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/watch/storage"
)

// History is what was kept of an instance: one value for every so many minutes, NaN where nothing was seen.
type History struct {
	Instance    string
	From, To    time.Time
	Every       time.Duration
	CPU         []float64 // processors that its sessions kept busy, or waited for
	IOPS        []float64
	Sent        []float64 // bytes a second to clients and replicas
	Disk        []float64 // bytes a second that InnoDB reads and writes, without its redo log
	Connections []float64
	Pool        float64 // bytes of its buffer pool; 0: not known
	Class       string
	RDS         bool // the inventory names the instance at RDS, and so runbooks of RDS can change it
	Volume      *storage.Volume
	Prices      price.Of
}

// enough is the history without which no smaller class is listed: the same hours of two weeks.
const enough = 14 * 24 * time.Hour

// smaller tells whether a class has fewer processors, less memory or fewer operations a second than another.
func smaller(c, was price.Class) bool {
	return c.Cores < was.Cores || c.GiB < was.GiB || c.IOPS > 0 && c.IOPS < was.IOPS
}

// Instance judges a class by all that was kept, and names the classes on which none of it would have been too much.
func Instance(h History) (advise.Finding, []string) {
	f := advise.Finding{About: "instance"}
	was, known := h.Prices.Classes[h.Class]
	if !known {
		return f, []string{fmt.Sprintf("%s: its class is unknown, and so are its limits and its price: use --class %s=db.m5.2xlarge.", h.Instance, h.Instance)}
	}
	cpu, iops, connections := quantiles(h.CPU), quantiles(h.IOPS), quantiles(h.Connections)
	if cpu.n == 0 {
		return f, []string{h.Instance + ": there is no history of its processors; plimsoll watch records it."}
	}
	f.Evidence = append(f.Evidence, fmt.Sprintf("Busy processors: %.2g of %d at P95, %.2g at most.", cpu.p95, was.Cores, cpu.most))
	if iops.n > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("Disk operations: %.0f per second at P95, %.0f at most; the class allows %.0f.", iops.p95, iops.most, was.IOPS))
	}
	if disk := quantiles(h.Disk); disk.n > 0 && was.MBps > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("Data read and written: %.4g MB a second at the most; the class allows %.4g.", disk.most/1e6, was.MBps))
	}
	f.Evidence = append(f.Evidence, h.network(was)...)
	if connections.n > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("Connections: %.0f at most. No class is judged by them: on RDS max_connections follows the memory of the class, unless its parameter group sets it.", connections.most))
	}
	seen := time.Duration(cpu.n) * h.Every
	f.Evidence = append(f.Evidence, fmt.Sprintf("From %.3g days of history, %.0f %% of it observed.", h.To.Sub(h.From).Hours()/24, 100*math.Min(seen.Hours()/h.To.Sub(h.From).Hours(), 1)))
	breach := h.breaches(was)
	f.Urgent = breach > 0 && cpu.p95 > headroom*float64(was.Cores)
	switch {
	case f.Urgent:
		f.Title = fmt.Sprintf("%s is too small: %.2g of %d processors busy at P95", h.Class, cpu.p95, was.Cores)
	case breach > 0:
		f.Title = fmt.Sprintf("%s was over %.0f %% of its limits in %d of %d spans", h.Class, 100*headroom, breach, cpu.n)
	default:
		f.Title = fmt.Sprintf("%s has headroom: at most %.0f %% of its processors were busy", h.Class, 100*cpu.most/float64(was.Cores))
	}
	f.Options = append(f.Options, h.option("leave it", h.Class, was, cpu, iops))
	var unknown []string
	if iops.n == 0 {
		unknown = append(unknown, h.Instance+": its disk operations are unknown, so no class is judged by them: compare the classes with the metrics of its volume, such as CloudWatch's ReadIOPS and WriteIOPS.")
	}
	short := h.To.Sub(h.From) < enough || seen < enough*3/4
	if short {
		unknown = append(unknown, fmt.Sprintf("%s: there are %.3g days of history; no smaller class is named before there are %.0f days, because the busiest hour may not have come yet.", h.Instance, seen.Hours()/24, enough.Hours()/24))
		if !f.Urgent {
			return f, unknown
		}
	}
	best := -1
	for _, name := range h.fitting(was, f.Urgent, short) {
		o := h.option(name, name, h.Prices.Classes[name], cpu, iops)
		f.Options = append(f.Options, o)
		if o.Price.Known() && (best < 0 || o.Price.Month < f.Options[best].Price.Month) {
			best = len(f.Options) - 1
		}
	}
	if now := f.Options[0].Price; best > 0 && (f.Urgent || now.Known() && f.Options[best].Price.Month < now.Month) {
		f.Options[best].Advised = true
	}
	return f, unknown
}

// fitting are the classes that none of the history would have breached and that hold as much memory, since what less of it would read is
// not in the history. Of a class that has room only cheaper ones, and none that is smaller after a short history; the five cheapest.
func (h History) fitting(was price.Class, larger, short bool) []string {
	now := h.Prices.Class(h.Class)
	var names []string
	for _, name := range h.Prices.ClassNames() {
		c := h.Prices.Classes[name]
		p := h.Prices.Class(name)
		cheaper := now.Known() && p.Known() && p.Month < now.Month
		if name == h.Class || onCredits(name) || !p.Known() || !larger && !cheaper || larger && c.Cores < was.Cores || c.GiB*poolShare*(1<<30) < h.Pool || h.Pool == 0 && c.GiB < was.GiB {
			continue
		}
		if h.breaches(c) == 0 && !(short && smaller(c, was)) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return int(math.Copysign(1, h.Prices.Class(a).Month-h.Prices.Class(b).Month))
	})
	return names[:min(len(names), 5)]
}

// breaches is in how many spans of the history a class would have been over its headroom: the back-test.
func (h History) breaches(c price.Class) (n int) {
	limit := c.IOPS
	if h.Volume != nil {
		if base := h.Volume.Base(); base > 0 && (limit == 0 || base < limit) {
			limit = base
		}
	}
	over := func(values []float64, i int, limit float64) bool {
		return limit > 0 && i < len(values) && values[i] > headroom*limit
	}
	line, _ := c.Line()
	for i := range h.CPU {
		if over(h.CPU, i, float64(c.Cores)) || over(h.IOPS, i, limit) || over(h.Disk, i, c.MBps*1e6) || over(h.Sent, i, line) {
			n++
		}
	}
	return n
}

// network tells what was sent, and what the class's line carries.
func (h History) network(c price.Class) []string {
	sent := quantiles(h.Sent)
	line, always := c.Line()
	switch {
	case sent.n == 0 || sent.most < 0.01*line && always:
		return nil
	case line == 0:
		return []string{fmt.Sprintf("Sent: %.4g MB a second at the most; what the class's network carries is not known.", sent.most/1e6)}
	case !always:
		return []string{fmt.Sprintf("Sent: %.4g MB a second at the most; the class's network carries %.4g for a while, and less all the time: how much less is not in the catalogue.", sent.most/1e6, line/1e6)}
	}
	return []string{fmt.Sprintf("Sent: %.4g MB a second at the most; the class's network carries %.4g.", sent.most/1e6, line/1e6)}
}

func (h History) option(name, class string, c price.Class, cpu, iops spread) advise.Option {
	was := h.Prices.Classes[h.Class]
	p := h.Prices.Class(class)
	o := advise.Option{Name: name, Price: p, Change: p.Minus(h.Prices.Class(h.Class)), Undo: "change the class back, with the same failover"}
	o.Effects = append(o.Effects, advise.Effect{
		What: "maximum of busy processors", Unit: "share", Now: cpu.most / float64(was.Cores), Then: cpu.most / float64(c.Cores), Low: cpu.p95 / float64(c.Cores), High: cpu.most / float64(c.Cores),
	})
	if iops.n > 0 && c.IOPS > 0 {
		o.Effects = append(o.Effects, advise.Effect{
			What: "of the class's operations a second", Unit: "share", Now: iops.most / was.IOPS, Then: iops.most / c.IOPS, Low: iops.p95 / c.IOPS, High: iops.most / c.IOPS,
		})
	}
	if class == h.Class {
		o.Risk, o.Undo = "none while the load stays the same", "nothing to undo"
		return o
	}
	o.Risk = "the instance is replaced: a failover of one to two minutes, and a cold cache; judged by the history, not by future growth"
	if cluster, node, _ := strings.Cut(h.Instance, "/"); h.RDS {
		o.Copy = fmt.Sprintf("plimsoll runbook plan rds/add-replica --cluster %s -i node=%s -i name=%s-try -i class=%s", cluster, node, node, class)
		o.Do = fmt.Sprintf("plimsoll runbook plan rds/resize --cluster %s -i node=%s -i class=%s", cluster, node, class)
	}
	if c.Processor != was.Processor {
		o.Risk += "; other processors (" + c.Processor + "), whose speed for this load is unknown: test the load on them"
	}
	return o
}

// spread is what is remembered of values.
type spread struct {
	n         int
	p95, most float64
}

func quantiles(values []float64) (s spread) {
	seen := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if s.n = len(seen); s.n == 0 {
		return s
	}
	slices.Sort(seen)
	s.p95, s.most = seen[min(int(0.95*float64(s.n)), s.n-1)], seen[s.n-1]
	return s
}
