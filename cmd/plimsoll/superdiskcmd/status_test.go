package superdiskcmd

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/infra"
	"plimsoll/infra/aws"
	"plimsoll/infra/aws/awstest"
	"plimsoll/infra/local"
	"plimsoll/infra/uml"
	"plimsoll/superdisk"
	"plimsoll/superdisk/superdisktest"
)

// shelf is a machine on which no array runs: its disk is the network leg of one, or its look shows one that runs.
type shelf struct {
	infra.Machine
	t      *testing.T
	serial string
	shows  string
}

// stoppedUUID is the array of the superblocks in superdisk/testdata.
const stoppedUUID = "540649c0:922d00fc:aac8231f:b7a686e7"

func (shelf) Name() string { return "m1" }

func (m shelf) read(name string) []byte {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "superdisk", "testdata", name))
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

func (m shelf) Snapshot(context.Context, ...string) (infra.Snapshot, error) {
	return superdisktest.Snapshot(m.shows), nil
}

func (m shelf) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	line := strings.Join(append([]string{c.Path}, c.Args...), " ")
	switch {
	case strings.Contains(line, "/sys/class/block"):
		return infra.Output{Stdout: []byte("ubdb\n")}, nil
	case strings.Contains(line, "/sys/block"):
		return infra.Output{Stdout: []byte("device ubdb 1100000 " + m.serial + "\n")}, nil
	}
	return infra.Output{Stdout: append(m.read("left.superblock"), make([]byte, 4096)...)}, nil
}

// What is recorded of a leg on its volume counts in the status as it does for a start from it; a record that cannot be read is an error, and neither
// a leg in step nor a command that starts one comes of it.
func TestTheStatusReadsWhatIsRecordedOnTheVolume(t *testing.T) {
	host, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	volumes := &uml.Volumes{Host: host, Folder: t.TempDir()}
	v, err := volumes.Create(t.Context(), infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	m := shelf{t: t, serial: v.Serial()}
	runs := string(m.read("whole.txt"))
	m.shows = runs[:strings.Index(runs, "\nmd")+1]
	records := superdisk.Records{Machine: host, Folder: t.TempDir()}
	look := func(volumes infra.Volumes) (superdiskNode, string) {
		t.Helper()
		n := place{"orders", "n1", "", m, volumes}.look(t.Context(), &watched{}, records, true)
		if len(n.Stopped) != 1 || n.Stopped[0].UUID != stoppedUUID {
			t.Fatalf("%+v", n)
		}
		var out, said strings.Builder
		if err := (superdiskStatus{cluster: "orders"}).print(console.Streams{Out: &out, Err: &said}, []superdiskNode{n}); err != nil {
			t.Fatal(err)
		}
		return n, out.String()
	}
	if n, text := look(volumes); n.Error != "" || !strings.Contains(text, "not known") || !strings.Contains(text, "no record says whether this leg was in step") {
		t.Errorf("nothing is recorded: %q, got\n%s", n.Error, text)
	}
	data, err := json.Marshal(struct {
		Array string `json:"array"`
		superdisk.LegRecord
	}{stoppedUUID, superdisk.LegRecord{Role: superdisk.Network, Since: time.Now(), Seen: time.Now()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := volumes.Tag(t.Context(), v.ID, map[string]string{superdisk.LegTag: string(data)}); err != nil {
		t.Fatal(err)
	}
	if n, text := look(volumes); n.Error != "" || !strings.Contains(text, "out of step since") || !strings.Contains(text, "is not to be started") || strings.Contains(text, "emergency-start") {
		t.Errorf("the volume says that it is out of step: %q, got\n%s", n.Error, text)
	}
	file := filepath.Join(records.Folder, strings.ReplaceAll(stoppedUUID, ":", "-")+".json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, text := look(nil)
	if !strings.Contains(n.Error, "read the record of array "+stoppedUUID) || !strings.Contains(text, "its record could not be read") || strings.Contains(text, "-start") {
		t.Errorf("it cannot be read: %q, got\n%s", n.Error, text)
	}
	m.shows = runs
	n = place{"orders", "n1", "", m, nil}.look(t.Context(), &watched{}, records, true)
	if strings.Count(n.Error, "read the record of array") != 1 {
		t.Errorf("of an array that runs: %q", n.Error)
	}
}

// A watch tells what it cannot look at; a machine that answers nothing is not one where all is well.
func TestAWatchTellsWhatItCannotLookAt(t *testing.T) {
	n := superdiskNode{Node: "db1", failed: context.DeadlineExceeded}
	ctx, cancel := context.WithCancel(t.Context())
	var out, said strings.Builder
	looks := 0
	err := superdiskStatus{cluster: "orders", every: time.Millisecond}.repeat(ctx, console.Streams{Out: &out, Err: &said}, func() []superdiskNode {
		if looks++; looks > 2 {
			cancel()
		}
		return []superdiskNode{n}
	})
	if err != nil || strings.Count(said.String(), "node db1: context deadline exceeded") != 2 || !strings.Contains(said.String(), "superdisk/recover-node") {
		t.Errorf("%v, %s", err, said.String())
	}
}

// A watch records each change on the leg's volume, and Plimsoll on another host, which has seen nothing of it, refuses the leg that has left. A status that is
// asked for once needs no right to change a volume.
func TestAWatchRecordsOnTheVolume(t *testing.T) {
	host, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	lab := &uml.Volumes{Host: host, Folder: t.TempDir()}
	made, err := lab.Create(t.Context(), infra.VolumeSpec{Size: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	api := awstest.NewEC2(t)
	ec2, err := aws.OpenEC2(t.Context(), aws.Options{Region: "ap-northeast-2", Endpoint: api.URL})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		volumes infra.Volumes
		id      string
	}{
		"lab": {lab, made.ID},
		"EC2": {&aws.Volumes{API: func(context.Context) (*aws.EC2, error) { return ec2, nil }}, api.AddVolume("ap-northeast-2a", 8, nil, "")},
	} {
		t.Run(name, func(t *testing.T) {
			m := shelf{t: t, serial: infra.VolumeSerial(c.id)}
			records := superdisk.Records{Machine: host, Folder: t.TempDir()}
			var w watch
			look := func(shows string, once bool) (tag string) {
				t.Helper()
				m.shows = strings.Replace(string(m.read(shows)), "dev-ubdb/block/serial:(null)", "dev-ubdb/block/serial:"+m.serial, 1)
				w.places, w.records = []place{{"orders", "n1", "", m, c.volumes}}, records
				if n := w.look(t.Context(), once)[0]; n.Error != "" {
					t.Fatal(n.Error)
				}
				v, err := c.volumes.Describe(t.Context(), c.id)
				if err != nil {
					t.Fatal(err)
				}
				return v.Tags[superdisk.LegTag]
			}
			doubt := func() (string, bool) { // of another host
				t.Helper()
				r, err := superdisk.Records{Machine: host, Folder: t.TempDir(), Volumes: c.volumes}.Of(t.Context(), stoppedUUID, c.id)
				if err != nil {
					t.Fatal(err)
				}
				return r.Doubt(c.id, time.Now())
			}
			if tag := look("whole.txt", true); tag != "" {
				t.Errorf("asked for once, it has tagged the volume: %s", tag)
			}
			w = watch{}
			first := look("whole.txt", false)
			if why, certain := doubt(); why != "" || certain {
				t.Errorf("in step: %q (%s)", why, first)
			}
			if second := look("whole.txt", false); second != first {
				t.Errorf("nothing has changed, and it has tagged the volume again:\n%s\n%s", first, second)
			}
			w = watch{}
			left := look("network-removed.txt", false)
			if why, certain := doubt(); !certain || !strings.Contains(why, "out of step since") {
				t.Errorf("it has left: %q (%s)", why, left)
			}
		})
	}
}
