package price

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Listed is an entry of a cloud's price list.
type Listed struct {
	Family     string
	Attributes map[string]string
	Unit       string
	USD        float64 // a unit
}

// Question is what to ask AWS's Price List.
type Question struct {
	Service string
	Where   map[string]string // attributes and their values
}

// Questions are those whose answers make up a region.
func Questions(region string) []Question {
	single := func(family string, more ...string) Question {
		q := Question{"AmazonRDS", map[string]string{"regionCode": region, "productFamily": family, "deploymentOption": "Single-AZ"}}
		if len(more) == 2 {
			q.Where[more[0]] = more[1]
		}
		return q
	}
	disks := func(family string) Question {
		return Question{"AmazonEC2", map[string]string{"regionCode": region, "productFamily": family}}
	}
	both := func(family string) Question { // of RDS and of Aurora, whose entries are told apart by their usage
		return Question{"AmazonRDS", map[string]string{"regionCode": region, "productFamily": family}}
	}
	auroraClasses := both("Database Instance")
	auroraClasses.Where["databaseEngine"] = auroraEngine
	return []Question{
		single("Database Instance", "databaseEngine", "MySQL"), both("Database Storage"), single("Provisioned IOPS"), single("Provisioned Throughput"),
		{"AmazonElastiCache", map[string]string{"regionCode": region, "productFamily": "Cache Instance", "cacheEngine": "Valkey"}},
		disks("Storage"), disks("System Operation"), disks("Provisioned Throughput"),
		auroraClasses, both("System Operation"),
	}
}

// auroraEngine is Aurora MySQL as the price list calls it; of each class it has an entry for either configuration.
const auroraEngine = "Aurora MySQL"

// kinds of RDS's volumes by the end of the usage type, which is the one attribute that says it everywhere; the rest of it is the region.
var (
	sizes = map[string]string{"RDS:GP2-Storage": "gp2", "RDS:GP3-Storage": "gp3", "RDS:PIOPS-Storage": "io1", "RDS:PIOPS-Storage-IO2": "io2"}
	rates = map[string]string{"RDS:GP3-PIOPS": "gp3", "RDS:PIOPS": "io1", "RDS:IO2-PIOPS": "io2"}
	flows = map[string]string{"RDS:GP3-Throughput": "gp3"}
)

// kinds of EBS's volumes, likewise. Of io2, whose operations are cheaper above 32,000, it is the first price: an upper bound for more.
var (
	ownSizes   = map[string]string{"EBS:VolumeUsage.gp2": "gp2", "EBS:VolumeUsage.gp3": "gp3", "EBS:VolumeUsage.piops": "io1", "EBS:VolumeUsage.io2": "io2"}
	ownRates   = map[string]string{"EBS:VolumeP-IOPS.gp3": "gp3", "EBS:VolumeP-IOPS.piops": "io1", "EBS:VolumeP-IOPS.io2": "io2"}
	ownThrough = map[string]string{"EBS:VolumeP-Throughput.gp3": "gp3"}
)

// Updated makes a catalogue of one region of what the price list answered. Its one source is dated on the day on which it was asked.
func Updated(region string, asked, published time.Time, all []Listed) (*Catalogue, error) {
	text := "the AWS Price List, on demand, one zone, MySQL"
	if !published.IsZero() {
		text += ", as published on " + published.UTC().Format(time.DateOnly)
	}
	source := "price-list-" + region
	r := Region{Classes: map[string]ClassPrice{}, Caches: map[string]ClassPrice{}, RDS: map[string]VolumePrice{}, EBS: map[string]VolumePrice{}}
	aurora := AuroraPrices{Classes: map[string]ClassPrice{}, Optimized: map[string]ClassPrice{}, Storage: AuroraStorage{Source: source}}
	c := &Catalogue{
		Currency: "USD", Sources: map[string]Source{source: {Date: asked.UTC().Format(time.DateOnly), Text: text}},
		Caches: map[string]Cache{}, Regions: map[string]Region{region: r},
	}
	for _, l := range all {
		kind, usage := l.Attributes["instanceType"], bareUsage(l.Attributes["usagetype"])
		switch {
		case aurora.note(l, usage, source):
		case l.Family == "Database Instance" && l.Unit == "Hrs" && strings.HasPrefix(kind, "db."):
			if was, there := r.Classes[kind]; there && was.Hour != l.USD {
				return nil, fmt.Errorf("the price list has two prices for %s in %s: %g and %g", kind, region, was.Hour, l.USD)
			}
			r.Classes[kind] = ClassPrice{Hour: l.USD, Source: source}
		case l.Family == "Cache Instance" && l.Unit == "Hrs":
			r.Caches[kind] = ClassPrice{Hour: l.USD, Source: source}
			var gib float64
			if _, err := fmt.Sscanf(l.Attributes["memory"], "%g GiB", &gib); err == nil && gib > 0 {
				c.Caches[kind] = Cache{GiB: gib}
			}
		case l.Unit == "GB-Mo":
			note(r.RDS, sizes[usage], source, func(v *VolumePrice) { v.GiB = l.USD })
			note(r.EBS, ownSizes[usage], source, func(v *VolumePrice) { v.GiB = l.USD })
		case l.Unit == "IOPS-Mo":
			note(r.RDS, rates[usage], source, func(v *VolumePrice) { v.IOPS = l.USD })
			note(r.EBS, ownRates[usage], source, func(v *VolumePrice) { v.IOPS = l.USD })
		case strings.EqualFold(l.Unit, "MBps-Mo"):
			note(r.RDS, flows[usage], source, func(v *VolumePrice) { v.MBps = l.USD })
		case l.Unit == "GiBps-mo":
			note(r.RDS, flows[usage], source, func(v *VolumePrice) { v.MBps = l.USD / 1024 })
			note(r.EBS, ownThrough[usage], source, func(v *VolumePrice) { v.MBps = l.USD / 1024 })
		}
	}
	for node := range r.Caches {
		if _, known := c.Caches[node]; !known {
			delete(r.Caches, node) // without its memory nothing can be said of it
		}
	}
	for _, volumes := range []map[string]VolumePrice{r.RDS, r.EBS} { // operations of a volume that cannot be had
		maps.DeleteFunc(volumes, func(_ string, v VolumePrice) bool { return v.GiB == 0 })
	}
	if len(aurora.Classes) > 0 && aurora.Storage.GiB > 0 {
		r.Aurora = &aurora
		c.Regions[region] = r
	}
	if len(r.Classes) == 0 || len(r.RDS) == 0 {
		return nil, fmt.Errorf("the price list has %d classes and %d kinds of volumes for %q", len(r.Classes), len(r.RDS), region)
	}
	return c, nil
}

// note writes a price of a kind of volume, if it is one that is known.
func note(prices map[string]VolumePrice, kind, source string, set func(*VolumePrice)) {
	if kind == "" {
		return
	}
	v := prices[kind]
	v.Source = source
	set(&v)
	prices[kind] = v
}

// note writes an entry that is one of Aurora's; false: it is not.
func (a *AuroraPrices) note(l Listed, usage, source string) bool {
	class := l.Attributes["instanceType"]
	switch {
	case l.Attributes["databaseEngine"] == auroraEngine && l.Unit == "Hrs" && strings.HasPrefix(class, "db."):
		of := a.Classes
		if strings.HasPrefix(usage, "InstanceUsageIOOptimized:") {
			of = a.Optimized
		} else if !strings.HasPrefix(usage, "InstanceUsage:") {
			return true // reserved, or of a kind that is not known
		}
		of[class] = ClassPrice{Hour: l.USD, Source: source}
	case usage == "Aurora:StorageUsage":
		a.Storage.GiB = l.USD
	case usage == "Aurora:IO-OptimizedStorageUsage":
		a.Storage.OptimizedGiB = l.USD
	case usage == "Aurora:StorageIOUsage":
		a.Storage.Million = 1e6 * l.USD
	default:
		return false
	}
	return true
}

// bareUsage leaves out the region that a usage type begins with: EUC1-RDS:GP3-Storage.
func bareUsage(usage string) string {
	for _, service := range []string{"RDS:", "EBS:", "Aurora:", "InstanceUsage"} {
		if at := strings.Index(usage, service); at >= 0 {
			return usage[at:]
		}
	}
	return usage
}

// Add puts the figures of another catalogue over those of this one.
func (c *Catalogue) Add(over *Catalogue) error { return c.override(over, "the update") }

// Own reads a file of prices by itself, without the catalogue that ships.
func Own(file string, text []byte) (*Catalogue, error) { return parse(file, text) }

// YAML writes the prices as a file that Load reads, sorted.
func (c *Catalogue) YAML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "currency: %s\nsources:\n", c.Currency)
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		fmt.Fprintf(&b, "  %s: {date: %s, text: %q}\n", name, c.Sources[name].Date, c.Sources[name].Text)
	}
	if len(c.Caches) > 0 {
		b.WriteString("caches:\n")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Caches)) {
		fmt.Fprintf(&b, "  %s: {gib: %g}\n", name, c.Caches[name].GiB)
	}
	b.WriteString("regions:\n")
	for _, name := range slices.Sorted(maps.Keys(c.Regions)) {
		r := c.Regions[name]
		fmt.Fprintf(&b, "  %s:\n", name)
		for _, part := range []struct {
			key string
			of  map[string]ClassPrice
		}{{"classes", r.Classes}, {"caches", r.Caches}} {
			if len(part.of) > 0 {
				fmt.Fprintf(&b, "    %s:\n", part.key)
			}
			for _, class := range slices.Sorted(maps.Keys(part.of)) {
				p := part.of[class]
				fmt.Fprintf(&b, "      %s: {hour: %g%s, source: %s}\n", class, p.Hour, more("apart", p.Apart), p.Source)
			}
		}
		if r.Aurora != nil {
			b.WriteString(r.Aurora.yaml())
		}
		for _, part := range []struct {
			key string
			of  map[string]VolumePrice
		}{{"rds", r.RDS}, {"ebs", r.EBS}} {
			if len(part.of) > 0 {
				fmt.Fprintf(&b, "    %s:\n", part.key)
			}
			for _, kind := range slices.Sorted(maps.Keys(part.of)) {
				p := part.of[kind]
				fmt.Fprintf(&b, "      %s: {gib_month: %g%s%s, source: %s}\n", kind, p.GiB, more("iops_month", p.IOPS), more("mbps_month", p.MBps), p.Source)
			}
		}
	}
	return []byte(b.String())
}

// yaml writes the part of a region.
func (a *AuroraPrices) yaml() string {
	var b strings.Builder
	b.WriteString("    aurora:\n")
	for _, part := range []struct {
		key string
		of  map[string]ClassPrice
	}{{"classes", a.Classes}, {"optimized", a.Optimized}} {
		if len(part.of) > 0 {
			fmt.Fprintf(&b, "      %s:\n", part.key)
		}
		for _, class := range slices.Sorted(maps.Keys(part.of)) {
			p := part.of[class]
			fmt.Fprintf(&b, "        %s: {hour: %g%s, source: %s}\n", class, p.Hour, more("apart", p.Apart), p.Source)
		}
	}
	if a.OptimizedMore > 0 {
		fmt.Fprintf(&b, "      optimized_more: %g\n", a.OptimizedMore)
	}
	s := a.Storage
	fmt.Fprintf(&b, "      storage: {gib_month: %g, million_requests: %g, optimized_gib_month: %g, source: %s}\n", s.GiB, s.Million, s.OptimizedGiB, s.Source)
	return b.String()
}

// more is a key with its value where there is one.
func more(key string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(", %s: %g", key, v)
}
