package collect

import (
	"context"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/watch"
)

// dataIn is a session of a server whose data lies in a folder.
type dataIn struct {
	engine.Session
	folder string
	asked  *int
}

func (d dataIn) Close() error { return nil }
func (d dataIn) Exec(_ context.Context, _ string, r *engine.Result) error {
	*d.asked++
	r.Rows, r.Values = 1, []engine.Value{{Kind: engine.Text, Data: []byte(d.folder)}}
	return nil
}

func TestTheRoomWhereTheDataLies(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	folder, asked := t.TempDir(), 0
	c := Disk(func(context.Context) (engine.Session, error) { return dataIn{folder: folder, asked: &asked}, nil }, m)
	if r, err := c.Collect(t.Context(), watch.TenSeconds, time.Now()); err != nil || len(r.Samples) > 0 || asked > 0 {
		t.Errorf("every ten seconds: %+v, %v", r.Samples, err)
	}
	var i watch.Instance
	for range 2 {
		r, err := c.Collect(t.Context(), watch.Minute, time.Now())
		if err != nil || len(r.Samples) != 2 {
			t.Fatalf("%+v, %v", r.Samples, err)
		}
		data := 42.0
		i.Disk = &watch.Disk{Data: &data}
		r.Show(&i)
	}
	var truth syscall.Statfs_t
	if err := syscall.Statfs(folder, &truth); err != nil {
		t.Fatal(err)
	}
	if total, free := float64(truth.Blocks)*float64(truth.Bsize), float64(truth.Bavail)*float64(truth.Bsize); math.Abs(*i.Disk.Total-total) > 0.01*total || math.Abs(*i.Disk.Free-free) > 0.05*total || *i.Disk.Data != 42 {
		t.Errorf("%g of %g, want %g of %g", *i.Disk.Free, *i.Disk.Total, free, total)
	}
	if asked != 1 {
		t.Errorf("where the data lies was asked %d times", asked)
	}
}

// A node of Cassandra has a list of folders: the first is looked at.
func TestTheRoomWhereANodeKeepsItsData(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	folder, asked := t.TempDir(), 0
	for _, shown := range []string{"[" + folder + "]", "[" + folder + ", /nowhere/data]", `["` + folder + `"]`, `["` + folder + `", "/nowhere/data"]`} { // the last two as ScyllaDB
		c := CassandraDisk(func(context.Context) (engine.Session, error) { return dataIn{folder: shown, asked: &asked}, nil }, m)
		r, err := c.Collect(t.Context(), watch.Minute, time.Now())
		if err != nil || len(r.Samples) != 2 || r.Samples[0].Value <= 0 {
			t.Errorf("%s: %+v, %v", shown, r.Samples, err)
		}
	}
}

// without is a session of a node that has no table of settings.
type without struct {
	dataIn
	err error
}

func (w without) Exec(context.Context, string, *engine.Result) error {
	*w.asked++
	return w.err
}

// ScyllaDB's folder is in another table.
func TestTheRoomOfANodeOfScyllaDB(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	c := CassandraDisk(func(context.Context) (engine.Session, error) {
		return elsewhere{dataIn{folder: `["` + t.TempDir() + `"]`, asked: &asked}}, nil
	}, m)
	if r, err := c.Collect(t.Context(), watch.Minute, time.Now()); err != nil || len(r.Samples) != 2 || r.Samples[1].Value <= 0 || asked != 1 {
		t.Errorf("%+v, %v, asked %d times", r.Samples, err, asked)
	}
}

// elsewhere is a session of a node that has its settings in system.config.
type elsewhere struct{ dataIn }

func (e elsewhere) Exec(ctx context.Context, text string, r *engine.Result) error {
	if !strings.Contains(text, "FROM system.config WHERE") {
		return &engine.Error{Kind: engine.Missing, Text: "unconfigured table settings"}
	}
	return e.dataIn.Exec(ctx, text, r)
}

// A node that has no such table is asked once; one that does not answer is asked again.
func TestANodeWithoutSettingsIsAskedOnce(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[engine.Class]int{engine.Missing: 1, engine.Timeout: 3} { // sessions
		asked, opened := 0, 0
		c := CassandraDisk(func(context.Context) (engine.Session, error) {
			opened++
			return without{dataIn{asked: &asked}, &engine.Error{Kind: kind, Text: "unconfigured table settings"}}, nil
		}, m)
		i := watch.Instance{Watching: watch.Watching{Lacks: []string{virtualTables}}}
		for _, level := range []watch.Level{watch.Minute, watch.Second, watch.Minute, watch.TenMinutes} {
			r, err := c.Collect(t.Context(), level, time.Now())
			if (err != nil) != (kind == engine.Timeout && level >= watch.Minute) || len(r.Samples) > 0 {
				t.Errorf("%s: %+v, %v", kind, r.Samples, err)
			}
			if r.Show != nil {
				r.Show(&i)
			}
		}
		lacks := []string{virtualTables}
		if kind == engine.Missing {
			lacks = []string{settings, virtualTables}
		}
		if questions := map[engine.Class]int{engine.Missing: 2, engine.Timeout: 3}[kind]; asked != questions || opened != want || !slices.Equal(i.Watching.Lacks, lacks) {
			t.Errorf("%s: it was asked %d times in %d sessions, want %d, and lacks %v", kind, asked, opened, want, i.Watching.Lacks)
		}
	}
}

// says is a machine whose df says something.
type says string

func (s says) Run(context.Context, infra.Command) (infra.Output, error) {
	return infra.Output{Stdout: []byte(s)}, nil
}

func TestWhatDfSays(t *testing.T) {
	for said, want := range map[string]float64{
		"Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sdb1 100 40 50 45% /data\n":     50 << 10,
		"Filesystem 1024-blocks Used Available Capacity Mounted on\nmap auto home 100 40 50 45% /data\n": 50 << 10,
		"Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/sdb1 100 100 0 100% /my data\n": -1,
		"df: /data: No such file or directory\n":                                                         -1,
		"Filesystem 1024-blocks Used Available Capacity Mounted on\nserver:/x - - - - /data\n":           -1,
	} {
		_, free, err := room(t.Context(), says(said), "/data")
		if want < 0 != (err != nil) || err == nil && free != want {
			t.Errorf("%q: %g, %v", said, free, err)
		}
	}
}
