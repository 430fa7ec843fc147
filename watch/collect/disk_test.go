package collect

import (
	"context"
	"math"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/engine"
	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/watch"
)

func TestTheRoomWhereTheDataLies(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	beside := MySQL(nil, 0)
	folder, c := t.TempDir(), Disk(beside, m)
	if r, err := c.Collect(t.Context(), watch.TenMinutes, time.Now()); err != nil || len(r.Samples) > 0 || r.Missed != watch.TenMinutes {
		t.Errorf("before it is known where the data lies: %+v, %v", r, err)
	}
	beside[0].(*quick).keepsDataIn(folder)
	if r, err := c.Collect(t.Context(), watch.TenSeconds, time.Now()); err != nil || len(r.Samples) > 0 || r.Missed != watch.Second {
		t.Errorf("every ten seconds: %+v, %v", r, err)
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
	beside[0].(*quick).keepsDataIn("data")
	if _, err := c.Collect(t.Context(), watch.Minute, time.Now()); err == nil || !strings.Contains(err.Error(), "not a path") {
		t.Errorf("of a folder without a path: %v", err)
	}
	if Disk(nil, m) != nil {
		t.Error("a disk of an instance that nobody reads is read")
	}
}

// A node of Cassandra has a list of folders: the first is looked at. ScyllaDB's is in another table. It stands among the settings that are read anyway:
// no question and no session is for it alone.
func TestTheRoomWhereANodeKeepsItsData(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for shown, settings := range map[string]string{
		"[" + folder + "]": ofSettings[0].text, "[" + folder + ", /nowhere/data]": ofSettings[0].text, `["` + folder + `"]`: ofSettings[1].text, `["` + folder + `", "/nowhere/data"]`: ofSettings[1].text,
	} {
		opened := 0
		readers := Cassandra(func(context.Context) (engine.Session, error) {
			opened++
			return answering{rows: map[string][][]string{settings: {{"cluster_name", "ring"}, {dataFolders, shown}}}}, nil
		}, "127.0.0.1:1", 0)
		c := Disk(readers, m)
		if _, err := readers[2].Collect(t.Context(), watch.Minute, time.Now()); err != nil {
			t.Fatal(err)
		}
		r, err := c.Collect(t.Context(), watch.Minute, time.Now())
		if err != nil || len(r.Samples) != 2 || r.Samples[0].Value <= 0 || opened != 1 {
			t.Errorf("%s: %+v, %v, %d sessions", shown, r.Samples, err, opened)
		}
	}
}

// A node without such tables is asked for them once; of one that does not answer they are asked again.
func TestANodeWithoutSettingsIsAskedOnce(t *testing.T) {
	m, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[engine.Class]int{engine.Missing: 1, engine.Timeout: 3} {
		asked := map[string]int{}
		readers := Cassandra(func(context.Context) (engine.Session, error) {
			return refusing{asked: asked, err: &engine.Error{Kind: kind, Text: "unconfigured table settings"}}, nil
		}, "127.0.0.1:1", 0)
		c := Disk(readers, m)
		for range 3 {
			if _, err := readers[2].Collect(t.Context(), watch.Minute, time.Now()); (err != nil) != (kind == engine.Timeout) {
				t.Errorf("%s: %v", kind, err)
			}
			if r, err := c.Collect(t.Context(), watch.Minute, time.Now()); err != nil || len(r.Samples) > 0 || r.Missed != watch.Minute {
				t.Errorf("%s: %+v, %v", kind, r, err)
			}
		}
		if lacks := readers[0].(*cassandra).lacking(ofSettings[0].table); asked[ofSettings[0].text] != want || lacks != (kind == engine.Missing) {
			t.Errorf("%s: it was asked %v, want %d times; it lacks them: %v", kind, asked, want, lacks)
		}
	}
}

// refusing answers every question with the same error, and counts the questions.
type refusing struct {
	engine.Session
	asked map[string]int
	err   error
}

func (r refusing) Exec(_ context.Context, text string, _ *engine.Result) error {
	r.asked[text]++
	return r.err
}

func (refusing) Close() error { return nil }

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
