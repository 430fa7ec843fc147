package findings

import (
	"math"
	"strings"
	"testing"

	"plimsoll/advise"
)

// unused is the incident's server with a pool of 6 GiB, on a class that has 24 for one.
func unused(t *testing.T) Input {
	t.Helper()
	in := incident(t, 1800)
	in.Memory.Bytes = 6 << 30
	in.Memory.Curve.Now.Bytes = in.Memory.Bytes
	return in
}

// Memory that the class has already is an option that costs nothing, with a runbook that makes use of it.
func TestALargerPoolOnTheSameClass(t *testing.T) {
	in := unused(t)
	o := option(t, finding(t, Report(in), "memory"), "a buffer pool of 24 GiB")
	if o.Change.Month != 0 || !o.Change.Known() || o.Price.Month != in.now().Month || o.Class != "" {
		t.Errorf("it costs %+v, %+v more", o.Price, o.Change)
	}
	if e := effectOf(t, o, "reads a second from disk"); math.Abs(e.Then-1800) > 1 {
		t.Errorf("%+v", e)
	}
	if o.Do != "" || o.Rehearse != "" || !strings.Contains(o.Risk, "set by innodb_buffer_pool_size=25769803776 in the parameter group") || o.When["innodb_buffer_pool_size"] != "25769803776" {
		t.Errorf("a class of RDS that plimsoll.yaml does not name: %+v", o)
	}
	in.Lab = &LabDisk{Name: "demo", Scale: 1}
	o = option(t, finding(t, Report(in), "memory"), "a buffer pool of 24 GiB")
	if o.Do != "plimsoll runbook plan mysql/resize-buffer-pool --cluster users -i node=n1 -i size=25769803776" || !strings.HasPrefix(o.Rehearse, "plimsoll runbook rehearse mysql/resize-buffer-pool ") {
		t.Errorf("in a lab: %s, %s", o.Do, o.Rehearse)
	}
	in.Lab, in.RDS = nil, true
	f := finding(t, Report(in), "memory")
	if o = option(t, f, "a buffer pool of 24 GiB"); o.Rehearse != "" || !strings.Contains(strings.Join(f.Evidence, " "), "the plan of rds/set-parameter says which rehearsal it needs") {
		t.Errorf("on RDS it is planned by another runbook than %s", o.Rehearse)
	}
	if o.Do != "plimsoll runbook plan rds/set-parameter --cluster users -i node=n1 -i name=innodb_buffer_pool_size -i value=25769803776" {
		t.Errorf("on RDS: %s", o.Do)
	}
	for _, o := range finding(t, Report(incident(t, 1800)), "memory").Options {
		if strings.HasPrefix(o.Name, "a buffer pool") {
			t.Errorf("a pool as large as the class's own, and %s is offered", o.Name)
		}
	}
}

// Sizes that were asked for are options on the same class, up to what it holds; what it does not hold is named.
func TestPoolsThatWereAskedFor(t *testing.T) {
	in := unused(t)
	in.Asked = []int64{48 << 30, 12 << 30, 4 << 30, 6 << 30}
	for _, g := range []int64{4, 6, 12, 48} {
		in.Memory.Curve.Points = append(in.Memory.Curve.Points, advise.Point{Bytes: g << 30, Reads: 100 * float64(g), Low: 90 * float64(g), High: 110 * float64(g)})
	}
	f := finding(t, Report(in), "memory")
	for name, reads := range map[string]float64{"a buffer pool of 4 GiB": 400, "a buffer pool of 12 GiB": 1200} {
		if o := option(t, f, name); effectOf(t, o, "reads a second from disk").Then != reads || o.Change.Month != 0 || !o.Change.Known() {
			t.Errorf("%+v", o)
		}
	}
	if smaller := option(t, f, "a buffer pool of 4 GiB"); strings.Contains(smaller.Risk, "swaps") {
		t.Errorf("a smaller one: %s", smaller.Risk)
	}
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "db.m5.2xlarge keeps 24 GiB of its 32 GiB for the buffer pool by default: a buffer pool of 48 GiB.") {
		t.Errorf("%s", said)
	}
	for _, o := range f.Options {
		if o.Name == "a buffer pool of 48 GiB" || o.Name == "a buffer pool of 6 GiB" {
			t.Errorf("%s is offered", o.Name)
		}
	}
}

// A class of the same size with other processors is listed if it costs less; one that costs as much is named.
func TestAnotherClassOfTheSameSize(t *testing.T) {
	f := finding(t, Report(incident(t, 1800)), "memory")
	if o := option(t, f, "db.m6g.2xlarge"); math.Abs(o.Change.Month-(0.615-0.684)*730) > 0.01 || !strings.Contains(o.Risk, "arm64") || effectOf(t, o, "reads a second from disk").Then != 1800 {
		t.Errorf("%+v", o)
	}
	for _, o := range f.Options {
		if o.Class == "db.m5.2xlarge" || o.Class == "db.m6i.2xlarge" {
			t.Errorf("%s is listed", o.Class)
		}
	}
	if said := strings.Join(f.Evidence, " "); !strings.Contains(said, "db.m6i.2xlarge") {
		t.Errorf("%s", said)
	}
}

// At RDS memory comes with the class: a look at the memory alone predicts reads, and names neither commands nor prices of one's own machine.
func TestSizesAtRDSHaveNoCommandsAndNoPricesOfAnOwnMachine(t *testing.T) {
	in := unused(t)
	in.Memory.Curve.Points = []advise.Point{{Bytes: 12 << 30, Reads: 900, Low: 800, High: 1000, Source: advise.FromHistory}}
	for _, at := range []Place{Own, RDS} {
		f := finding(t, OfMemory(in.Memory, at, in.Prices), "memory")
		o := option(t, f, "a buffer pool of 12 GiB")
		if none := o.Do == "" && o.Rehearse == "" && !o.Price.Known() && !o.Change.Known() && !f.Options[0].Price.Known() && o.Price.Unknown == unclassed; none != (at == RDS) {
			t.Errorf("%s: %+v", at, o)
		}
		if effectOf(t, o, "reads a second from disk").Then != 900 || o.When["innodb_buffer_pool_size"] == "" {
			t.Errorf("%s: what was predicted cannot be checked: %+v", at, o)
		}
	}
}
