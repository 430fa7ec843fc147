package cloud

import (
	"context"
	"time"

	"plimsoll/infra/aws"
	"plimsoll/watch"
	"plimsoll/watch/collect"
)

// collector reads one instance, once a minute.
type collector struct {
	region   *Region
	instance aws.Instance
	told     map[string]time.Time // until when values of each metric were handed on
	plain    bool                 // it has no Performance Insights
}

var _ watch.Collector = (*collector)(nil)

// Collector reads what AWS shows of an instance, for a Source whose first collector asks by SQL.
func (r *Region) Collector(i aws.Instance) watch.Collector {
	r.add(i.ID)
	return &collector{region: r, instance: i, told: map[string]time.Time{}}
}

// Close implements watch.Collector.
func (*collector) Close() error { return nil }

// Collect implements watch.Collector.
func (c *collector) Collect(ctx context.Context, level watch.Level, now time.Time) (watch.Reading, error) {
	var r watch.Reading
	if level < watch.Minute {
		return r, nil
	}
	means, err := c.region.of(ctx, c.instance.ID, now)
	if err != nil {
		return r, err
	}
	latest := map[string]aws.Metric{}
	for _, m := range means {
		if latest[m.Name].At.Before(m.At) {
			latest[m.Name] = m
		}
		if m.At.After(c.told[m.Name]) {
			r.Add(m.At, metrics[m.Name], m.Value)
			if gib := c.instance.Storage.GiB; m.Name == "FreeStorageSpace" && gib > 0 { // as that of other instances, for the rules
				r.Add(m.At, "plimsoll_disk_free_bytes", m.Value)
				r.Add(m.At, "plimsoll_disk_total_bytes", float64(gib)*(1<<30))
			}
		}
	}
	for name, m := range latest {
		c.told[name] = m.At
	}
	err = c.waits(ctx, now, &r)
	r.Show = func(i *watch.Instance) { c.show(i, latest) }
	return r, err
}

// waits reads the load as Performance Insights has it, which is a series of its own beside what SQL says.
func (c *collector) waits(ctx context.Context, now time.Time, r *watch.Reading) error {
	if c.plain || c.instance.ResourceID == "" {
		return nil
	}
	from := now.Add(-askBack).Truncate(time.Minute)
	if told := c.told[insights]; told.After(from) {
		from = told.Add(time.Minute)
	}
	to := now.Truncate(time.Minute)
	if !from.Before(to) {
		return nil
	}
	waits, err := c.region.api.Waits(ctx, c.instance.ResourceID, from, to)
	if aws.NoInsights(err) {
		c.plain = true // it is asked once
		return nil
	}
	if err != nil {
		return err
	}
	for _, w := range waits {
		r.Add(w.At, "plimsoll_insights_aas", w.AAS, "event", w.Event, "wait", classOf(w.Event))
		if w.At.After(c.told[insights]) {
			c.told[insights] = w.At
		}
	}
	return nil
}

// insights is the name under which it is kept how far Performance Insights was read.
const insights = "performance insights"

// classOf is the class of wait of an event of Performance Insights, which leaves out the first part of its name.
func classOf(event string) string {
	if event == "CPU" {
		return "cpu"
	}
	if class := collect.ClassOfEvent("wait/" + event); class != "" {
		return class
	}
	return "other"
}

// show puts into the picture what SQL does not know: the room that is left, and the bucket.
func (c *collector) show(i *watch.Instance, latest map[string]aws.Metric) {
	value := func(name string, factor float64) *float64 {
		m, there := latest[name]
		if !there {
			return nil
		}
		v := m.Value * factor
		return &v
	}
	if free := value("FreeStorageSpace", 1); free != nil {
		disk := watch.Disk{}
		if i.Disk != nil {
			disk = *i.Disk
		}
		disk.Free = free
		if gib := float64(c.instance.Storage.GiB) * (1 << 30); gib > 0 {
			disk.Total = &gib
		}
		i.Disk = &disk
	}
	if share := value("BurstBalance", 0.01); share != nil {
		io := watch.IO{}
		if i.IO != nil {
			io = *i.IO
		}
		io.Bucket, io.BucketBasis = share, "cloud"
		i.IO = &io
	}
}
