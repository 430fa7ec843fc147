package infratest

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
)

func suiteFiles(t *testing.T, s suite) {
	ctx := t.Context()
	if _, err := s.ReadFile(ctx, s.at("nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("read what is not there: %v, want fs.ErrNotExist", err)
	}
	must(t, s.WriteFile(ctx, s.at("secret"), []byte("one"), 0o600))
	must(t, s.WriteFile(ctx, s.at("secret"), []byte("two"), 0o640))
	data, err := s.ReadFile(ctx, s.at("secret"))
	must(t, err)
	equal(t, "content", string(data), "two")
	equal(t, "mode", s.shell(t, "stat -c %a secret"), "640")
	if err := s.WriteFile(ctx, s.at("no/folder/file"), nil, 0o600); err == nil {
		t.Error("wrote into a folder that is not there")
	}

	must(t, s.MakeDir(ctx, s.at("a/b/c")))
	must(t, s.MakeDir(ctx, s.at("a/b/c")))
	equal(t, "mode of a folder", s.shell(t, "stat -c %a a"), "700")
	must(t, s.WriteFile(ctx, s.at("a/file"), []byte("12345\nrest\n"), 0o600))
	names, err := s.List(ctx, s.at("a"))
	must(t, err)
	if !slices.Equal(names, []string{"b", "file"}) { // and nothing that WriteFile made on its way
		t.Errorf("list: %v", names)
	}
	names, err = s.List(ctx, s.at("nothing"))
	must(t, err)
	equal(t, "names in a folder that is not there", len(names), 0)

	tail, err := infra.Tail(ctx, s, s.at("a/file"), 6)
	must(t, err)
	equal(t, "tail", string(tail), "rest\n")

	must(t, s.Remove(ctx, s.at("a")))
	must(t, s.Remove(ctx, s.at("a")))
	equal(t, "after Remove", s.shell(t, "ls"), "secret")
}

func suiteSnapshot(t *testing.T, s suite) {
	ctx := t.Context()
	s.shell(t, `mkdir -p md0/dev-a md0/dev-b disk; echo one >md0/dev-a/state; echo two >md0/dev-b/state; printf '1\n\n2' >md0/size
		ln -s ../../disk md0/dev-a/block; echo x >disk/serial; touch -d '2001-02-03 04:05:06 UTC' disk/serial; echo id >of-all; echo hidden >md0/.size
		ln -s disk/serial link; ln -s link again; ln -s /nowhere dangling; ln -s /dev/null null; mkfifo pipe; : >empty; echo no >md1`)
	before := time.Now()
	taken, err := s.Snapshot(ctx, s.at("md*/size"), s.at("md*/dev-*/state"), s.at("md*/dev-*/block"), s.at("md*/dev-*/block/serial"), s.at("md0/dev-a/block")+"/../of-all",
		s.at("nothing"), s.at("dangling"), s.at("again"), s.at("null"), s.at("pipe"), s.at("empty"), s.at("md0/*"), "/proc/sys/kernel/random/boot_id")
	must(t, err)
	if off := taken.Now.Sub(before).Abs(); off > time.Minute {
		t.Errorf("the machine's clock is %s off", off)
	}
	got := map[string]infra.File{}
	var order []string
	for _, f := range taken.Files {
		name := strings.TrimPrefix(f.Path, s.dir+"/")
		got[name] = f
		order = append(order, name)
	}
	folder := s.shell(t, "pwd -P")
	for name, want := range map[string]struct{ content, target string }{
		"md0/size": {"1\n\n2", ""}, "md0/dev-a/state": {"one\n", ""}, "md0/dev-b/state": {"two\n", ""}, "md0/dev-a/block": {"", folder + "/disk"},
		"md0/dev-a/block/serial": {"x\n", ""}, "md0/dev-a/block/../of-all": {"id\n", ""}, "again": {"x\n", folder + "/disk/serial"},
		"null": {"", "/dev/null"}, "pipe": {"", ""}, "empty": {"", ""}, "md0/dev-a": {"", ""}, "md0/dev-b": {"", ""},
		"/proc/sys/kernel/random/boot_id": {s.shell(t, "cat /proc/sys/kernel/random/boot_id") + "\n", ""},
	} {
		if f, there := got[name]; !there || string(f.Content) != want.content || f.Target != want.target {
			t.Errorf("%s: %v, %q, leads to %q; want %q, %q", name, there, f.Content, f.Target, want.content, want.target)
		}
		delete(got, name)
	}
	equal(t, "files beside those that were asked for", len(got), 0)
	equal(t, "in the order of the patterns and of names", strings.Join(order[:3], " "), "md0/size md0/dev-a/state md0/dev-b/state")
	taken, err = s.Snapshot(ctx, s.at("disk/serial"))
	must(t, err)
	equal(t, "changed", taken.Files[0].Changed.Unix(), 981173106)

	if _, err := s.Snapshot(ctx, "a/relative/path"); err == nil {
		t.Error("took a path that is not absolute")
	}
	if _, err := s.Snapshot(ctx, s.at("m[")); err == nil {
		t.Error("took a pattern that is none")
	}
	s.shell(t, "truncate -s 5M big1 big2")
	taken, err = s.Snapshot(ctx, s.at("big1"))
	must(t, err)
	equal(t, "bytes", len(taken.Files[0].Content), 5<<20)
	if _, err := s.Snapshot(ctx, s.at("big*")); err == nil {
		t.Error("read more than it may hold")
	}
	past, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Snapshot(past, s.at("md0/size")); !errors.Is(err, context.Canceled) {
		t.Errorf("read for nobody: %v, want context.Canceled", err)
	}
}

func suiteCopyTree(t *testing.T, s suite) {
	ctx := t.Context()
	s.shell(t, `umask 022
		mkdir -p from/sub/empty
		echo data >from/file; chmod 640 from/file; touch -d '2001-02-03 04:05:06 UTC' from/file
		ln from/file from/sub/second-name
		ln -s ../file from/sub/link; ln -s /nowhere from/dangling
		truncate -s 64M from/sparse; printf middle | dd of=from/sparse bs=1 seek=33554432 conv=notrunc 2>/dev/null
		: >from/zero
		head -c 3000000 /dev/urandom >from/big
		mkfifo from/pipe
		chmod 500 from/sub
		mkdir to; echo old >to/old`)
	t.Cleanup(func() {
		_, _ = s.Run(context.WithoutCancel(ctx), infra.Command{Path: "chmod", Args: []string{"-R", "u+w", s.dir}})
	})
	must(t, s.CopyTree(ctx, s.at("from"), s.at("to")))

	equal(t, "files", s.shell(t, "cd to && find . | LC_ALL=C sort | tr '\n' ' '"),
		"./. ./big ./dangling ./file ./sparse ./sub ./sub/empty ./sub/link ./sub/second-name ./zero"[2:])
	s.shell(t, "cmp from/big to/big && cmp from/sparse to/sparse && cmp from/zero to/zero")
	equal(t, "mode and time", s.shell(t, "stat -c '%a %Y' to/file"), "640 981173106")
	equal(t, "mode of a folder", s.shell(t, "stat -c %a to/sub"), "500")
	equal(t, "hard links", s.shell(t, "stat -c %h to/file"), "2")
	equal(t, "links", s.shell(t, "readlink to/sub/link to/dangling"), "../file\n/nowhere")
	equal(t, "blocks of the sparse file are few", s.shell(t, "[ $(stat -c %b to/sparse) -lt 2048 ] && echo yes"), "yes")
	equal(t, "beside the copy", s.shell(t, "ls"), "from\nto")

	// A copy is its own.
	s.shell(t, "echo changed >from/file")
	equal(t, "the copy after its original changed", s.shell(t, "cat to/file"), "data")

	// To a name that is free.
	must(t, s.CopyTree(ctx, s.at("to"), s.at("fresh")))
	s.shell(t, "cmp to/big fresh/big")

	// What fails leaves things as they were.
	broken, cancel := context.WithCancel(ctx)
	cancel()
	if err := s.CopyTree(broken, s.at("from"), s.at("to")); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v, want context.Canceled", err)
	}
	if err := s.CopyTree(ctx, s.at("nothing"), s.at("to")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("copy what is not there: %v, want fs.ErrNotExist", err)
	}
	equal(t, "the copy after failures", s.shell(t, "cat to/file"), "data")
	equal(t, "beside it", s.shell(t, "ls"), "fresh\nfrom\nto")
}

func suiteLock(t *testing.T, s suite) {
	ctx := t.Context()
	release, err := s.Lock(ctx, s.at("lock"))
	must(t, err)
	past, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Lock(past, s.at("lock")); !errors.Is(err, infra.ErrLocked) {
		t.Errorf("lock what is locked: %v, want ErrLocked", err)
	}
	other, err := s.Lock(past, s.at("other")) // tries once even so
	must(t, err)
	must(t, other())

	// One after another, never two at once, although each removes the file that the next one waits on.
	const people = 8
	held := make(chan struct{}, 1)
	results := make(chan error, people)
	patient, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for range people {
		go func() {
			release, err := s.Lock(patient, s.at("lock"))
			if err == nil {
				select {
				case held <- struct{}{}:
					<-held
				default:
					err = errors.New("two hold the lock")
				}
				err = errors.Join(err, release())
			}
			results <- err
		}()
	}
	must(t, release())
	for range people {
		must(t, <-results)
	}
	equal(t, "left behind", s.shell(t, "ls"), "")
}

func suiteSpace(t *testing.T, s suite) {
	space, err := s.Space(t.Context(), s.at("not/yet/there"))
	must(t, err)
	if space.DiskFree <= 0 || space.MemoryFree <= 0 || space.Cores <= 0 {
		t.Errorf("space: %+v", space)
	}
	total := s.shell(t, "sed -n 's/^MemTotal: *//p' /proc/meminfo")
	if kib := strings.Fields(total); len(kib) == 2 && kib[1] == "kB" {
		equal(t, "memory free is within the total", space.MemoryFree <= atoi(t, kib[0])<<10, true)
	}
}
