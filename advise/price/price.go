// Package price says what database classes and volumes are and cost, from a dated catalogue that a file can override.
package price

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/hint"
	"plimsoll/internal/document"
)

//go:embed catalogue.yaml
var shipped []byte

// Catalogue holds the known classes and prices. A price that is not in it is unknown.
type Catalogue struct {
	Currency string            `yaml:"currency" doc:"Currency of all prices."`
	Sources  map[string]Source `yaml:"sources" doc:"Sources of the figures, by the name used in them."`
	Classes  map[string]Class  `yaml:"classes" doc:"Hardware, by instance class."`
	Caches   map[string]Cache  `yaml:"caches" doc:"Nodes of a read cache, by type."`
	Regions  map[string]Region `yaml:"regions" doc:"Prices, by region."`
}

// Cache is a node of a read cache.
type Cache struct {
	GiB float64 `yaml:"gib,required" doc:"Memory for cached data."`
}

// Source is where a figure could be read, and when.
type Source struct {
	Date string `yaml:"date,required" doc:"Such as 2026-11-23."`
	Text string `yaml:"text,required" doc:"What it is."`
}

// Class is the hardware of an instance.
type Class struct {
	Cores     int     `yaml:"cores,required" doc:"Virtual processors."`
	GiB       float64 `yaml:"gib,required" doc:"Memory."`
	Processor string  `yaml:"processor" doc:"x86_64 or arm64."`
	Network   string  `yaml:"network" doc:"Network, in the cloud's own words."`
	IOPS      float64 `yaml:"iops" doc:"Sustained disk operations per second."`
	BurstIOPS float64 `yaml:"burst_iops" doc:"Disk operations per second for half an hour a day."`
	MBps      float64 `yaml:"mbps" doc:"Sustained disk throughput, in MB/s."`
	BurstMBps float64 `yaml:"burst_mbps" doc:"Disk throughput for half an hour a day, in MB/s."`
}

// Line is the network bandwidth of the class in one direction, in bytes a second, and whether it is there all the time: what a cloud gives
// "up to" is there for a while only. 0: not known.
func (c Class) Line() (bytes float64, always bool) {
	text, upTo := strings.CutPrefix(c.Network, "Up to ")
	var gigabit float64
	if _, err := fmt.Sscanf(text, "%g Gigabit", &gigabit); err != nil {
		return 0, false
	}
	return gigabit * 1e9 / 8, !upTo
}

// Region is the prices of one.
type Region struct {
	Classes map[string]ClassPrice  `yaml:"classes" doc:"Instances, by class."`
	Caches  map[string]ClassPrice  `yaml:"caches" doc:"Nodes of a read cache, by type."`
	RDS     map[string]VolumePrice `yaml:"rds" doc:"Volumes of managed databases, by type."`
	EBS     map[string]VolumePrice `yaml:"ebs" doc:"Volumes of self-managed servers, by type."`
	Aurora  *AuroraPrices          `yaml:"aurora" doc:"Aurora MySQL."`
	Memory  *MemoryPrice           `yaml:"memory" doc:"Memory of your own machines."`
}

// MemoryPrice is what memory in one's own machines costs. No catalogue can know it.
type MemoryPrice struct {
	GiB    float64 `yaml:"gib_month,required" doc:"A GiB a month."`
	Source string  `yaml:"source,required" doc:"Name of the source."`
}

// ClassPrice is what an instance costs.
type ClassPrice struct {
	Hour   float64 `yaml:"hour,required" doc:"Price per hour, on demand, in one zone."`
	Apart  float64 `yaml:"apart" doc:"Difference between sources, as a share."`
	Source string  `yaml:"source,required" doc:"Name of the source."`
}

// VolumePrice is what a volume costs a month.
type VolumePrice struct {
	GiB    float64 `yaml:"gib_month,required" doc:"A GiB."`
	IOPS   float64 `yaml:"iops_month" doc:"A provisioned operation a second, above what is included."`
	MBps   float64 `yaml:"mbps_month" doc:"A provisioned MiB/s, above what is included."`
	Source string  `yaml:"source,required" doc:"Name of the source."`
}

// Managed tells whether a class is one of RDS's, or Aurora's.
func Managed(class string) bool { return strings.HasPrefix(class, "db.") }

// Hours of a month, as the cloud counts them.
const Hours = 730

// Load reads the catalogue that ships, with a file's figures over it; no file: "".
func Load(file string) (*Catalogue, error) {
	c, err := parse("catalogue.yaml", shipped)
	if err != nil || file == "" {
		return c, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, hint.Missing(fmt.Errorf("read prices: %w", err), "plimsoll prices update downloads the present prices; where no file of prices is named, those and the built-in catalogue are used")
	}
	over, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	return c, c.override(over, file)
}

func parse(file string, text []byte) (*Catalogue, error) {
	root, err := document.Parse(file, text)
	if err != nil {
		return nil, err
	}
	var c Catalogue
	if err := root.Decode(&c); err != nil {
		return nil, err
	}
	for name, s := range c.Sources {
		if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
			return nil, fmt.Errorf("%s: source %s: date %q, expected such as 2026-11-23", file, name, s.Date)
		}
	}
	for region, r := range c.Regions {
		all := merged(r.Classes, r.Caches)
		if r.Aurora != nil {
			all = merged(merged(all, r.Aurora.Classes), r.Aurora.Optimized)
			if s := r.Aurora.Storage; min(s.GiB, s.Million, s.OptimizedGiB, r.Aurora.OptimizedMore) < 0 {
				return nil, fmt.Errorf("%s: Aurora in %s: a negative price", file, region)
			}
		}
		for class, p := range all {
			if p.Hour < 0 || p.Apart < 0 {
				return nil, fmt.Errorf("%s: %s in %s: a negative price", file, class, region)
			}
		}
	}
	return &c, nil
}

// Check refuses a source of a day that has not come yet. Somewhere it is tomorrow already.
func (c *Catalogue) Check(now time.Time) error {
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		if day, err := time.Parse(time.DateOnly, c.Sources[name].Date); err == nil && day.After(now.Add(24*time.Hour)) {
			return fmt.Errorf("the source %s of prices is dated %s, which is in the future", name, c.Sources[name].Date)
		}
	}
	return nil
}

func (c *Catalogue) override(over *Catalogue, file string) error {
	if over.Currency != "" && over.Currency != c.Currency {
		if len(over.Regions) == 0 {
			return fmt.Errorf("%s: currency %s without prices", file, over.Currency)
		}
		c.Currency, c.Regions = over.Currency, nil // prices in two currencies cannot be added
	}
	c.Sources, c.Classes, c.Caches = merged(c.Sources, over.Sources), merged(c.Classes, over.Classes), merged(c.Caches, over.Caches)
	if c.Regions == nil {
		c.Regions = map[string]Region{}
	}
	for name, r := range over.Regions {
		there := c.Regions[name]
		c.Regions[name] = Region{
			Classes: merged(there.Classes, r.Classes), Caches: merged(there.Caches, r.Caches), RDS: merged(there.RDS, r.RDS), EBS: merged(there.EBS, r.EBS),
			Aurora: there.Aurora.merge(r.Aurora), Memory: cmp.Or(r.Memory, there.Memory),
		}
	}
	return nil
}

func merged[V any](below, over map[string]V) map[string]V {
	out := maps.Clone(below)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, over)
	return out
}

// Of is a catalogue for one account: a region and the discount that it has.
type Of struct {
	*Catalogue

	Region   string
	Discount float64 // share that is taken off
	Now      time.Time
}

// lacking is the price of a thing that the catalogue does not have.
func (o Of) lacking(thing string) advise.Price {
	if o.Catalogue == nil {
		return advise.Price{Unknown: "no prices"}
	}
	switch _, there := o.Regions[o.Region]; {
	case o.Region == "":
		return advise.Price{Unknown: "the region is unknown, and so are its prices"}
	case !there:
		return advise.Price{Unknown: "the catalogue has no prices of " + o.Region}
	}
	return advise.Price{Unknown: fmt.Sprintf("the price of %s in %s is not in the catalogue", thing, o.Region)}
}

// Class is what an instance costs a month.
func (o Of) Class(name string) advise.Price {
	p, known := o.Regions[o.Region].Classes[name]
	if !known {
		return o.lacking(name)
	}
	return o.price(p.Hour*Hours, p.Apart, p.Source)
}

// Cache is what a node of a read cache costs a month.
func (o Of) Cache(name string) advise.Price {
	p, known := o.Regions[o.Region].Caches[name]
	if !known {
		return o.lacking(name)
	}
	return o.price(p.Hour*Hours, p.Apart, p.Source)
}

// Volume is what a volume costs a month, of a managed database or of one's own, with operations a second and MiB/s beyond what it includes.
func (o Of) Volume(kind string, gib, extraIOPS, extraMiBs float64, managed bool) advise.Price {
	prices := o.Regions[o.Region].EBS
	if managed {
		prices = o.Regions[o.Region].RDS
	}
	p, known := prices[kind]
	switch {
	case known && extraMiBs > 0 && p.MBps == 0:
		return o.lacking("the throughput of " + kind)
	case !known || extraIOPS > 0 && p.IOPS == 0:
		return o.lacking(kind)
	}
	return o.price(p.GiB*gib+p.IOPS*extraIOPS+p.MBps*extraMiBs, 0, p.Source)
}

// Memory is what so much memory in one's own machine costs a month.
func (o Of) Memory(gib float64) advise.Price {
	p := o.Regions[o.Region].Memory
	if p == nil {
		return advise.Price{Unknown: "the price of memory in your own machine (memory: {gib_month: …}) is not in the catalogue"}
	}
	return o.price(p.GiB*gib, 0, p.Source)
}

// old is the age from which a price is called old.
const old = 180 * 24 * time.Hour

func (o Of) price(month, apart float64, source string) advise.Price {
	month *= 1 - o.Discount
	p := advise.Price{Month: month, Low: month * (1 - apart), High: month * (1 + apart), Currency: o.Currency, Source: source}
	if s, known := o.Sources[source]; known {
		p.Date, p.Source = s.Date, s.Text+", read on "+s.Date
		if day, err := time.Parse(time.DateOnly, s.Date); err == nil && o.Now.Sub(day) > old {
			p.Old = true
			p.Source += " (" + ageOf(o.Now.Sub(day)) + ")"
		}
	}
	return p
}

// ageOf says how old an old price is.
func ageOf(age time.Duration) string {
	if years := int(age.Hours() / 24 / 365.25); years > 1 {
		return fmt.Sprintf("more than %d years old", years)
	}
	return "half a year old or more"
}

// ClassNames are the classes, sorted.
func (c *Catalogue) ClassNames() []string { return slices.Sorted(maps.Keys(c.Classes)) }
