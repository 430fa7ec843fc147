package machinetest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/infra/local"
	"plimsoll/internal/machinetest"
	"plimsoll/superdisk"
	"plimsoll/watch"
	"plimsoll/watch/collect"
	"plimsoll/watch/rules"
	"plimsoll/watch/store"
)

// A leg hangs in a machine with a kernel of its own: the watch's alert fires, with the runbook that gives the leg up, and ends when its volume was
// taken away; then the leg is missing. The watch reads five times as often as it does in practice. make soak runs it.
func TestSoakAWatchTellsOfALegThatHangs(t *testing.T) {
	if os.Getenv("PLIMSOLL_SOAK") == "" {
		t.Skip("takes a minute: make soak")
	}
	host := machinetest.New(t, 46)
	m := host.Boot(t, "one")
	ctx := t.Context()
	disks := superdisk.Design{Name: "superdisk", Chunk: 1 << 20, Reserve: 1 << 20}
	network := ""
	for _, leg := range []*string{&disks.Local, &disks.Network} {
		network = host.Volume(t, 512<<20, "one")
		device, err := superdisk.Resolve(ctx, m, network)
		must(t, err)
		*leg = device
	}
	must(t, superdisk.Create(ctx, m, disks))
	must(t, superdisk.FormatBlank(ctx, m, superdisk.Path("superdisk")))
	must(t, superdisk.Mount(ctx, m, superdisk.Path("superdisk"), "/run/data"))

	here, err := local.New()
	must(t, err)
	records := superdisk.Records{Machine: here, Folder: filepath.Join(t.TempDir(), "superdisk")}
	series, err := store.Open(t.TempDir(), store.Options{})
	must(t, err)
	defer func() { must(t, series.Close()) }()
	w := watch.New(watch.Config{Every: 200 * time.Millisecond, Keep: series.Append, Sources: []watch.Source{{
		Instance: watch.Instance{Name: "orders/n1", Cluster: "orders", Node: "n1", Engine: "mysql"}, Collectors: []watch.Collector{answers{}, collect.SuperDisk(m, records)},
	}}})
	watching, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(watching) }()
	defer func() {
		end()
		must(t, <-ended)
	}()
	groups, err := rules.Shipped()
	must(t, err)
	judge := rules.New(rules.Config{Series: series, Groups: groups})
	begun := time.Now()
	await := func(what string, is func([]watch.Alert) bool) {
		t.Helper()
		again := time.NewTicker(200 * time.Millisecond)
		defer again.Stop()
		for deadline := time.Now().Add(time.Minute); ; <-again.C {
			judge.Evaluate(ctx, time.Now())
			all := judge.Alerts()
			if is(all) {
				t.Logf("%s: after %s, %+v", what, time.Since(begun).Round(100*time.Millisecond), all)
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: not within a minute, but %+v", what, all)
			}
		}
	}
	has := func(all []watch.Alert, rule, state string) bool {
		return slices.ContainsFunc(all, func(a watch.Alert) bool {
			return a.Rule == rule && a.State == state && a.Labels["leg"] == "network" && a.Instance == "orders/n1"
		})
	}
	known := func([]watch.Alert) bool {
		v, err := series.Instant(ctx, `plimsoll_superdisk_leg_missing{leg="network"} == 0`, time.Now())
		return err == nil && len(v.Lines) == 1
	}
	await("both legs are known", known)
	if all := judge.Alerts(); len(all) > 0 {
		t.Errorf("all is well, and alerts fire: %+v", all)
	}
	writing, err := m.Start(ctx, infra.Command{Path: "sh", Log: "/run/writer.log", Mark: "/writer", Args: []string{"-c",
		"while [ ! -e /run/enough ]; do dd if=/dev/zero of=/run/data/z bs=4k count=1 conv=fsync 2>/dev/null; sleep 0.02; done"}})
	must(t, err)
	host.Hang(t, network, true)
	begun = time.Now()
	await("the leg hangs", func(all []watch.Alert) bool { return has(all, "LegHangs", "firing") })
	for _, a := range judge.Alerts() {
		if a.Rule == "LegHangs" && (a.Runbook != "superdisk/give-up-hung" || a.Inputs != "node=n1 array=superdisk" || a.Value < 5) {
			t.Errorf("the alert: %+v", a)
		}
	}
	must(t, host.ForceDetach(ctx, network, "one"))
	begun = time.Now()
	await("it was taken away", func(all []watch.Alert) bool {
		return !has(all, "LegHangs", "firing") && has(all, "LegIsMissing", "pending")
	})
	_, err = m.Run(ctx, infra.Command{Path: "touch", Args: []string{"/run/enough"}})
	must(t, err)
	must(t, writing.Wait(ctx))
	if names, err := here.List(ctx, records.Folder); err != nil || len(names) > 0 {
		t.Errorf("the watch has recorded something: %v, %v", names, err)
	}
}

// answers is a server that answers.
type answers struct{}

func (answers) Close() error { return nil }
func (answers) Collect(context.Context, watch.Level, time.Time) (watch.Reading, error) {
	return watch.Reading{}, nil
}
