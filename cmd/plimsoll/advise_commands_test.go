package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/advise/price"
	"plimsoll/cmd/plimsoll/advisecmd"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/runs"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/lab"
	"plimsoll/trial/spec"
	"plimsoll/watch/storage"
)

// advisedOn are reports of several places with all kinds of findings.
func advisedOn(t *testing.T) (all []*advise.Report) {
	t.Helper()
	catalogue, err := price.Load("")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	prices := price.Of{Catalogue: catalogue, Region: "us-east-1", Now: now}
	point := func(g int64) advise.Point {
		r := 1800 * max(1-float64(g-24)/70, 0.02)
		return advise.Point{Bytes: g << 30, Times: float64(g) / 24, Reads: r, Low: 0.9 * r, High: 1.1 * r, Source: advise.FromHistory}
	}
	m := &advise.Memory{Bytes: 24 << 30, PageSize: 16 << 10, Data: 170 << 30, Reads: 1800, Requests: 90000, IOPS: 2000, Writes: 200, Peak: 2200}
	for g := int64(8); g <= 120; g += 2 {
		m.Line = append(m.Line, point(g))
	}
	m.Curve = advise.Curve{Now: point(24), Points: []advise.Point{point(12), point(24), point(48)}}
	statements := &advise.Statements{Source: "counters", All: []advise.Statement{{
		Digest: "d", Text: "SELECT plan FROM users WHERE handle = ?", Database: "app", Table: "app.users", Calls: 2000, Examined: 1, Returned: 1, Plain: true,
		Reads: advise.Figure{Mean: 1600, Low: 1500, High: 1700}, Access: "ref", Key: "handle", Equal: []string{"handle"}, Asked: []string{"plan"},
		Keys: &advise.Keys{Seen: 1000, Distinct: 990, Skew: advise.Figure{Mean: 0.6, Low: 0.5, High: 0.7}},
		Shape: &advise.TableSize{
			Rows: 20e6, Pages: 800_000, CachedRows: 150_000, PageSize: 16 << 10,
			Columns: map[string]int64{"id": 8, "handle": 8, "plan": 32, "profile": 2400}, Indexes: map[string][]string{"PRIMARY": {"id"}, "handle": {"handle"}},
		},
	}}}
	f := func(v float64) *advise.Figure { return &advise.Figure{Mean: v, Low: 0.8 * v, High: 1.2 * v} }
	seen := func(product string) *advise.Seen {
		return &advise.Seen{Product: product, Commit: &advise.CommitUse{
			Rate: *f(1200), Total: f(0.004), Redo: f(0.0009), Binlog: f(0.0013), Queue: f(0.0018), Group: f(2.2), Sessions: *f(6), Waiting: *f(4.8),
			Settings: map[string]string{"innodb_flush_log_at_trx_commit": "1", "innodb_flush_log_at_timeout": "1", "log_bin": "ON", "sync_binlog": "1"},
		}}
	}
	for i, v := range []storage.Volume{
		{Type: "gp2", GiB: 200, Managed: true}, {Type: "gp2", GiB: 800, Managed: true}, {Type: "gp3", GiB: 100, Managed: true, IOPS: 3000}, {Type: "io1", GiB: 300, IOPS: 2200, Managed: true},
	} {
		in := findings.Input{Cluster: "users", Node: "n1", At: now, Memory: m, Class: "db.m5.2xlarge", Volume: &v, Balance: 0.05, Prices: prices, Seen: seen("MySQL")}
		if i == 0 {
			in.Statements = statements
		}
		all = append(all, findings.Report(in))
		own := in
		own.Class, own.Statements, own.Seen, own.Volume = "", nil, seen("MariaDB"), &storage.Volume{Type: v.Type, GiB: v.GiB, IOPS: v.IOPS}
		all = append(all, findings.Report(own))
		own.Memory, own.Lab = nil, &findings.LabDisk{Name: "demo", Scale: 0.1}
		own.Seen = &advise.Seen{Product: "MariaDB", Disk: &advise.DiskUse{IOPS: *f(v.Base() / 10), Peak: v.Base() / 10}}
		all = append(all, findings.Report(own))
	}
	aurora := findings.Input{Cluster: "users", Node: "n1", At: now, Class: "db.r6g.4xlarge", Prices: prices, Seen: seen("Aurora MySQL")}
	all = append(all, findings.Report(aurora))
	aurora.Memory, aurora.Aurora = m, &findings.Aurora{}
	all = append(all, findings.Report(aurora))
	small := make([]float64, 15*288)
	for i := range small {
		small[i] = 0.5
	}
	finding, _ := findings.Instance(findings.History{
		Instance: "users/n1", From: now.Add(-15 * 24 * time.Hour), To: now, Every: 5 * time.Minute, Class: "db.r5.4xlarge", Pool: 20 << 30, Prices: prices, CPU: small, IOPS: small,
	})
	return append(all, &advise.Report{Cluster: "users", Node: "n1", At: now, Findings: []advise.Finding{finding}})
}

// Each command that advice prints can be typed: the shell takes it, its runbook takes the inputs, and its trial is valid with what it sets and
// is about the volume that the option names.
func TestCommandsOfAdviceCanBeTyped(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	root, kinds := newRoot(console.Streams{}), map[string]int{}
	for _, r := range advisedOn(t) {
		for _, f := range r.Findings {
			ownMix(t, f)
			for _, o := range f.Options {
				if rehearsed := o.Rehearse != ""; rehearsed == strings.Contains(o.Name, "leave it") && f.About != "commit" || !rehearsed && !strings.Contains(o.Name, "not here") && !strings.HasPrefix(o.Name, "leave it") {
					t.Errorf("%s: %s is rehearsed by %q", f.About, o.Name, o.Rehearse)
				}
				for _, command := range []string{o.Rehearse, o.Do} {
					if command == "" {
						continue
					}
					words := shellWords(t, command)
					if wrong := wrongCommand(root, strings.Join(words[1:3], " "), true); wrong != "" {
						t.Errorf("%s: %s", command, wrong)
					}
					kinds[strings.Join(words[1:4], " ")]++
					switch {
					case words[1] == "runbook":
						takesInputs(t, command, words)
					case words[1] == "trial":
						isValid(t, command, words, o)
					case words[1] == "lab":
						isDisk(t, command, words, o)
					}
				}
			}
		}
	}
	for _, want := range []string{
		"trial run examples/burst-bucket/volume.yaml", "trial run examples/burst-bucket/cache.yaml", "trial run examples/commit-path/trial.yaml", "trial run examples/commit-path/batch.yaml",
		"runbook plan rds/grow-storage", "runbook plan rds/resize", "runbook plan rds/add-replica", "runbook plan aurora/add-reader", "runbook plan rds/set-parameter", "runbook plan mysql/set-variable",
		"lab disk demo", "runbook rehearse mysql/alter-table", "runbook rehearse mysql/resize-buffer-pool",
	} {
		if kinds[want] == 0 {
			t.Errorf("no option says plimsoll %s: %v", want, kinds)
		}
	}
}

// ownMix holds that what advice about commits says of statements of one's own makes a valid trial.
func ownMix(t *testing.T, f advise.Finding) {
	t.Helper()
	for _, e := range f.Evidence {
		_, set, said := strings.Cut(e, "--set 'load=")
		if !said {
			continue
		}
		value, _, closed := strings.Cut(set, "'")
		if value = strings.Replace(value, "FILE", "examples/burst-bucket/users.yaml", 1); !closed || !strings.Contains(value, "users.yaml") {
			t.Fatalf("%s", e)
		}
		trial, err := trialcmd.Read("examples/commit-path/trial.yaml", spec.Options{Set: []string{"load=" + value}})
		if err != nil {
			t.Errorf("%s: %v", e, err)
		} else if !strings.HasSuffix(trial.Cells[0].Source, "users.yaml") {
			t.Errorf("it runs %s", trial.Cells[0].Source)
		}
	}
}

// isDisk holds that a lab's disk is what the option names.
func isDisk(t *testing.T, command string, words []string, o advise.Option) {
	t.Helper()
	if len(words) != 6 || words[4] != "--set" {
		t.Fatalf("%s", command)
	}
	disk, err := lab.ParseDisk(words[5])
	if err != nil {
		t.Errorf("%s: %v", command, err)
		return
	}
	want, err := advisecmd.ParseCloudVolume(o.Volume, disk.Volume.Managed)
	if err != nil || disk.Volume.Type != want.Type || disk.Volume.GiB != want.GiB || disk.Volume.Base() != want.Base() || disk.Volume.Throughput() != want.Throughput() || disk.Scale != 0.1 {
		t.Errorf("%s is %+v, want %+v: %v", command, disk, want, err)
	}
}

// shellWords are the words that a shell makes of a command.
func shellWords(t *testing.T, command string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `printf '%s\0' `+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func takesInputs(t *testing.T, command string, words []string) {
	t.Helper()
	book, err := runs.ReadRunbook(words[3])
	if err != nil {
		t.Errorf("%s: %v", command, err)
		return
	}
	said := map[string]string{}
	for i := 4; i+1 < len(words); i += 2 {
		name, value, _ := strings.Cut(words[i+1], "=")
		switch words[i] {
		case "-i":
			said[name] = value
		case "--cluster":
		default:
			t.Errorf("%s: %s is no flag of it", command, words[i])
		}
	}
	if _, err := book.Resolve(said); err != nil {
		t.Errorf("%s: %v", command, err)
	}
}

func isValid(t *testing.T, command string, words []string, o advise.Option) {
	t.Helper()
	var set []string
	for i := 4; i+1 < len(words); i += 2 {
		if words[i] != "--set" {
			t.Errorf("%s: %s is no flag of it", command, words[i])
		}
		set = append(set, words[i+1])
	}
	trial, err := trialcmd.Read(words[3], spec.Options{Set: set})
	if err != nil {
		t.Errorf("%s: %v", command, err)
		return
	}
	if o.Volume == "" {
		return
	}
	other := trial.Cells[1].Disk
	if other == nil {
		t.Errorf("%s has no other volume", command)
		return
	}
	want, err := advisecmd.ParseCloudVolume(o.Volume, other.Volume.Managed)
	if err != nil {
		t.Fatal(err)
	}
	if other.Volume.Type != want.Type || other.Volume.GiB != want.GiB || other.Volume.Base() != want.Base() || trial.Cells[0].Disk.Volume == other.Volume {
		t.Errorf("%s rehearses %+v", o.Volume, other)
	}
}
