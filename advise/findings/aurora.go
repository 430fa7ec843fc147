package findings

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/advise"
	"plimsoll/advise/price"
	"plimsoll/hint"
)

// Aurora is a cluster of Aurora as the place that a database runs in. Its storage has no volume, no size to choose and no limit of operations;
// what is chosen is how requests are paid for.
type Aurora struct {
	Name  string // of the cluster at AWS; "": not known
	Named bool   // the inventory names it, and so runbooks can reach it
	// Configuration is Standard or IOOptimized; "": not known.
	Configuration string
	Classes       []string // of all its instances; none: not known
	GiB           float64  // of data; 0: not known
	// Reads and Writes are the requests that are billed, of all instances together, a second; their interval is from the quietest to the busiest
	// day. nil: not known.
	Reads, Writes *advise.Figure
	Days          int // that these are of
}

// The storage configurations of Aurora.
const (
	Standard    = "Standard"
	IOOptimized = "I/O-Optimized"
)

// auroraAdvice is advice about an Aurora cluster.
type auroraAdvice struct {
	Aurora

	cluster string // by its name in the inventory
	prices  price.Of
	use     advise.DiskUse
}

func adviceOn(in Input) auroraAdvice { return auroraAdvice{*in.Aurora, in.Cluster, in.Prices, in.use} }

// finding judges the storage of an Aurora cluster: it holds nothing back, and is a question of price alone.
func (a auroraAdvice) finding() advise.Finding {
	f := advise.Finding{About: "storage", Evidence: []string{
		"This is Aurora: its storage grows by itself, and has no volume, no burst bucket and no limit of operations to choose. Standard bills each read of a page and each write of 4 KiB of the log; I/O-Optimized bills none, and more for instances and storage.",
	}}
	if a.use.IOPS.Mean > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("This instance reads %.0f pages per second from storage; %.0f in the busiest ten seconds with its writes. It does not count the writes that Aurora bills.",
			max(a.use.IOPS.Mean-a.use.Writes, 0), a.use.Peak))
	}
	switch {
	case a.billed() != nil:
		f.Evidence = append(f.Evidence, fmt.Sprintf("CloudWatch, over %d days: %s reads and %s writes per second were billed (quietest to busiest day).", a.Days, span90(*a.Reads, "%.0f"), span90(*a.Writes, "%.0f")))
	default:
		f.Evidence = append(f.Evidence, "What is billed is not known: CloudWatch shows it (VolumeReadIOPs and VolumeWriteIOPs of the cluster) once plimsoll.yaml names the cluster: aws: {region: …, aurora: NAME}.")
	}
	if a.Configuration == "" {
		f.Evidence = append(f.Evidence, "Which of the two configurations it has is not known, and assumed to be Standard.")
	}
	standard, optimized := a.price(Standard), a.price(IOOptimized)
	f.Evidence = append(f.Evidence, a.breakEven()...)
	now, other, otherPrice := Standard, IOOptimized, optimized
	nowPrice := standard
	if a.Configuration == IOOptimized {
		now, other, nowPrice, otherPrice = IOOptimized, Standard, optimized, standard
	}
	switch {
	case !standard.Known() || !optimized.Known():
		f.Title = "Aurora's storage does not limit the load; the cost of its requests is not known"
	case otherPrice.High < nowPrice.Low:
		f.Title = fmt.Sprintf("%s would cost %s %.0f a month less than %s", other, nowPrice.Currency, nowPrice.Month-otherPrice.Month, now)
	case otherPrice.Low > nowPrice.High:
		f.Title = fmt.Sprintf("%s is the cheaper configuration, by %s %.0f a month", now, nowPrice.Currency, otherPrice.Month-nowPrice.Month)
	default:
		f.Title = fmt.Sprintf("%s and %s cost about the same: the quietest and the busiest day decide differently", now, other)
	}
	f.Options = []advise.Option{a.option("leave it: "+now, now, now, nowPrice, nowPrice), a.option(other, other, now, otherPrice, nowPrice)}
	if otherPrice.Known() && nowPrice.Known() && otherPrice.High < nowPrice.Low {
		f.Options[1].Advised = true
	} else if otherPrice.Known() && nowPrice.Known() {
		f.Options[0].Advised = true
	}
	return f
}

// billed are all requests that are billed; nil: not known.
func (a Aurora) billed() *advise.Figure {
	if a.Reads == nil || a.Writes == nil {
		return nil
	}
	return &advise.Figure{Mean: a.Reads.Mean + a.Writes.Mean, Low: a.Reads.Low + a.Writes.Low, High: a.Reads.High + a.Writes.High}
}

// price is what the whole cluster costs a month in a configuration.
func (a auroraAdvice) price(configuration string) advise.Price {
	optimized := configuration == IOOptimized
	p := a.fixed(optimized)
	if optimized || !p.Known() {
		return p
	}
	requests := a.billed()
	if requests == nil {
		return advise.Price{Unknown: "the number of requests that Aurora bills is not known"}
	}
	return p.Plus(a.prices.AuroraRequests(*requests))
}

// fixed is what instances and storage cost, without requests.
func (a auroraAdvice) fixed(optimized bool) (p advise.Price) {
	if len(a.Classes) == 0 {
		return advise.Price{Unknown: "the classes of the cluster's instances are not known"}
	}
	for _, class := range a.Classes {
		p = p.Plus(a.prices.AuroraClass(class, optimized))
	}
	if a.GiB == 0 {
		return p.Plus(advise.Price{Unknown: "the size of the cluster's data is not known"})
	}
	return p.Plus(a.prices.AuroraStorage(a.GiB, optimized))
}

// breakEven says from how many requests on I/O-Optimized is cheaper, which needs no count of them, or what is missing for that.
func (a auroraAdvice) breakEven() []string {
	const from = "From how many billed requests per second on I/O-Optimized is cheaper depends on "
	switch {
	case len(a.Classes) == 0:
		return []string{from + "the classes of the instances: --class db.r6g.2xlarge names them."}
	case a.GiB == 0:
		return []string{from + "the size of the data, which CloudWatch shows (VolumeBytesUsed), and the server to an account with the PROCESS privilege."}
	}
	standard, optimized, one := a.fixed(false), a.fixed(true), a.prices.AuroraRequests(advise.Figure{Mean: 1})
	if !standard.Known() || !optimized.Known() || !one.Known() || one.Month == 0 {
		return nil
	}
	return []string{fmt.Sprintf("I/O-Optimized is cheaper from %.0f billed requests per second on, on average over the month; %s of data and %s.",
		(optimized.Month-standard.Month)/one.Month, gib(a.GiB), strings.Join(a.Classes, ", "))}
}

// option is a configuration, which may be the one that it has now.
func (a auroraAdvice) option(name, configuration, has string, price, now advise.Price) advise.Option {
	o := advise.Option{Name: name, Price: price, Change: price.Minus(now), Risk: "what requests cost follows the load", Undo: "nothing to undo"}
	if configuration == IOOptimized {
		o.Risk = "none: the bill no longer follows the load"
	}
	if r := a.billed(); r != nil {
		e := advise.Effect{What: "billed requests per second", Unit: "per_second", Now: r.Mean, Then: r.Mean, Low: r.Low, High: r.High}
		if a.Configuration == IOOptimized {
			e.Now = 0
		}
		if configuration == IOOptimized {
			e.Then, e.Low, e.High = 0, 0, 0
		}
		o.Effects = append(o.Effects, e)
	}
	if configuration == has {
		return o
	}
	kind := "aurora-iopt1"
	o.Undo = "switch back to Standard, which is possible at any time"
	o.Risk += "; reserved instances cover less of the dearer ones; needs Aurora MySQL 3.03.1; the next switch to it is possible after 30 days"
	if configuration == Standard {
		kind, o.Undo = "aurora", "switch back to I/O-Optimized, which is possible once in 30 days"
	}
	cluster := cmp.Or(a.Name, hint.FillIn)
	o.Risk += fmt.Sprintf("; both have the same speed. Set by: aws rds modify-db-cluster --db-cluster-identifier %s --storage-type %s --apply-immediately", cluster, kind)
	if a.Named && len(a.Classes) > 0 {
		o.Copy = fmt.Sprintf("plimsoll runbook plan aurora/clone --cluster %s -i name=%s-try -i class=%s", a.cluster, a.cluster, a.Classes[0])
	}
	return o
}

// readsBilled says what a read less saves where each is billed.
func (a auroraAdvice) readsBilled() []string {
	if a.Configuration == IOOptimized {
		return nil
	}
	one := a.prices.AuroraRequests(advise.Figure{Mean: 1})
	if !one.Known() {
		return nil
	}
	return []string{fmt.Sprintf("Aurora bills each of these reads in its Standard configuration: a read per second less saves %s %.2f a month, which the prices below do not include.", one.Currency, one.Month)}
}
