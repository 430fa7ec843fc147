package findings

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/price"
)

// kept is a fortnight and a half of a server that follows the day, with one night's batch.
func kept(t *testing.T, class string, cpu, batch float64) History {
	t.Helper()
	catalogue, err := price.Load("")
	if err != nil {
		t.Fatal(err)
	}
	to := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	h := History{
		Instance: "shop/n1", From: to.Add(-21 * 24 * time.Hour), To: to, Every: 5 * time.Minute, Pool: 20 << 30, Class: class,
		Prices: price.Of{Catalogue: catalogue, Region: "us-east-1", Now: to},
	}
	for at := h.From; at.Before(to); at = at.Add(h.Every) {
		load := cpu * (1 + 0.5*math.Sin(float64(at.Hour())/24*2*math.Pi))
		if at.Day() == 10 && at.Hour() == 3 {
			load = batch
		}
		h.CPU, h.IOPS = append(h.CPU, load), append(h.IOPS, 200*load)
	}
	return h
}

// Nothing smaller is named that one hour in three weeks would have overrun, and none with less memory than the pool takes.
func TestAShrinkHoldsAllThatWasKept(t *testing.T) {
	h := kept(t, "db.r5.4xlarge", 3.5, 5)
	f, _ := Instance(h)
	if len(f.Options) < 2 {
		t.Fatalf("%+v", f)
	}
	overrun := func(c price.Class) (spans int) { // over seven tenths of what the class has
		for i := range h.CPU {
			if h.CPU[i] > 0.7*float64(c.Cores) || h.IOPS[i] > 0.7*c.IOPS {
				spans++
			}
		}
		return spans
	}
	for _, o := range f.Options[1:] {
		c := h.Prices.Classes[o.Name]
		if n := overrun(c); n > 0 || c.GiB*0.75*(1<<30) < h.Pool || o.Change.Month >= 0 {
			t.Errorf("%s: overrun in %d spans, %+v", o.Name, n, o.Change)
		}
	}
	// db.r5.xlarge has the memory and costs less, was too small by day alone, and would be named for less load.
	idle, _ := Instance(kept(t, "db.r5.4xlarge", 0.5, 0.6))
	xlarge := func(o advise.Option) bool { return o.Name == "db.r5.xlarge" }
	if n := overrun(h.Prices.Classes["db.r5.xlarge"]); n == 0 || n == len(h.CPU) || !slices.ContainsFunc(idle.Options, xlarge) || slices.ContainsFunc(f.Options, xlarge) {
		t.Errorf("%d of %d spans were too much for db.r5.xlarge: %+v; with less load %+v", n, len(h.CPU), f.Options, idle.Options)
	}
	busy, _ := Instance(kept(t, "db.r5.8xlarge", 0.5, 9))
	if len(busy.Options) < 2 {
		t.Fatalf("%+v", busy)
	}
	for _, o := range busy.Options[1:] {
		if c := kept(t, "db.r5.4xlarge", 0, 0).Prices.Classes[o.Name]; float64(c.Cores)*headroom < 9 {
			t.Errorf("%s has %d processors, and the batch took 9", o.Name, c.Cores)
		}
	}
}

// One hour at a class's limit of operations, or of bytes, in three weeks is enough for it not to be named.
func TestTheDiskOfAClassIsALimit(t *testing.T) {
	named := func(h History) (all []string) {
		f, _ := Instance(h)
		for _, o := range f.Options[1:] {
			all = append(all, o.Name)
		}
		return all
	}
	h := kept(t, "db.r5.8xlarge", 0.5, 0.6)
	free := named(h)
	least := func(of func(price.Class) float64) (name string, limit float64) {
		for _, n := range free {
			if l := of(h.Prices.Classes[n]); l > 0 && (limit == 0 || l < limit) {
				name, limit = n, l
			}
		}
		return name, limit
	}
	smallest, operations := least(func(c price.Class) float64 { return c.IOPS })
	h.IOPS[1000] = operations * 0.9 // headroom is less
	if got := named(h); smallest == "" || slices.Contains(got, smallest) {
		t.Errorf("with %.0f operations a second once: %s among %s", h.IOPS[1000], smallest, got)
	}
	h = kept(t, "db.r5.8xlarge", 0.5, 0.6)
	smallest, bytes := least(func(c price.Class) float64 { return c.MBps * 1e6 })
	h.Disk = make([]float64, len(h.CPU))
	h.Disk[1000] = bytes * 0.9
	if got := named(h); smallest == "" || slices.Contains(got, smallest) {
		t.Errorf("with %.0f bytes a second once: %s among %s", h.Disk[1000], smallest, got)
	}
}

func TestTooLittleHistoryNamesNothingSmaller(t *testing.T) {
	h := kept(t, "db.r5.4xlarge", 0.5, 0.6)
	h.From, h.CPU, h.IOPS = h.To.Add(-48*time.Hour), h.CPU[:576], h.IOPS[:576]
	f, unknown := Instance(h)
	if len(f.Options) != 1 || len(unknown) != 1 || !strings.Contains(unknown[0], "14 days") {
		t.Errorf("%+v; %v", f.Options, unknown)
	}
}

// Where the watch knew no disk operations, the advice says that no class is judged by them.
func TestUnknownOperationsAreSaid(t *testing.T) {
	h := kept(t, "db.r5.4xlarge", 0.5, 0.6)
	h.IOPS = nil
	if _, unknown := Instance(h); len(unknown) != 1 || !strings.Contains(unknown[0], "disk operations are unknown") {
		t.Error(unknown)
	}
}

func TestAnInstanceThatIsTooSmall(t *testing.T) {
	f, _ := Instance(kept(t, "db.r5.xlarge", 3, 3.5))
	if !f.Urgent || !strings.Contains(f.Title, "too small") || len(f.Options) < 2 {
		t.Fatalf("%+v", f)
	}
	for _, o := range f.Options {
		if o.Advised && o.Name == "leave it" {
			t.Errorf("%+v", o)
		}
	}
}

// A class whose network one hour would have overrun is not named, and one whose line is only "up to" says that it is.
func TestTheNetworkOfAClassIsALimitToo(t *testing.T) {
	h := kept(t, "db.r5.16xlarge", 0.5, 0.6)
	for range h.CPU {
		h.Sent = append(h.Sent, 30e6)
	}
	h.Sent[1000] = 1.2e9 // 9.6 Gbit/s
	f, _ := Instance(h)
	if text := strings.Join(f.Evidence, "\n"); !strings.Contains(text, "Sent: 1200 MB a second at the most; the class's network carries 2500.") {
		t.Errorf("%s", text)
	}
	if len(f.Options) < 2 {
		t.Fatalf("%+v", f)
	}
	for _, o := range f.Options[1:] {
		if line, _ := h.Prices.Classes[o.Name].Line(); 1.2e9 > headroom*line {
			t.Errorf("%s carries %.0f bytes a second, and 1.2e9 were sent", o.Name, line)
		}
	}
	h.Class = "db.r5.4xlarge"
	if f, _ := Instance(h); !strings.Contains(strings.Join(f.Evidence, "\n"), "for a while, and less all the time") || len(f.Options) > 1 && f.Options[1].Name == "db.r5.2xlarge" {
		t.Errorf("a line that is only up to 10 Gigabit: %v", f.Evidence)
	}
}
