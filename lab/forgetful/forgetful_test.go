//go:build linux

package forgetful

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWhatWasSyncedRemains(t *testing.T) {
	old := strings.Repeat("a", 10_000)
	l := lay(t, map[string]string{"log": old, "data": "12345", "folder/x": "x"})
	log, data := l.open("log", os.O_RDWR), l.open("data", os.O_WRONLY)
	l.write(log, "SYNCED", 5000)
	l.write(data, "and more", 5)
	must(t, log.Sync())
	l.write(log, "NOT", 5000)
	l.write(log, "beyond", 10_000)
	l.write(data, "9", 0)
	if got := tree(t, l.folder)["data"]; got != "92345and more" {
		t.Errorf("before the power failed: %q", got)
	}
	log.Close()
	data.Close()
	l.want(l.finish(lose), map[string]string{"log": old[:5000] + "SYNCED" + old[5006:], "data": "12345", "folder/": "", "folder/x": "x"})
	if f := l.forgotten(); f.Files != 2 || f.Bytes < int64(len("beyond")) || f.Names != 0 {
		t.Errorf("reported %+v", f)
	}
}

func TestAnEndWithoutPowerFailureKeepsAll(t *testing.T) {
	l := lay(t, map[string]string{"a": "1"})
	f := l.open("a", os.O_WRONLY|os.O_TRUNC)
	l.write(f, "22", 0)
	f.Close()
	must(t, os.Rename(l.at("a"), l.at("b")))
	l.want(l.finish(keep), map[string]string{"b": "22"})
}

func TestSyncedWritesNeedNoSync(t *testing.T) {
	for _, how := range []int{unix.O_SYNC, unix.O_DSYNC} {
		l := lay(t, map[string]string{"a": "1234"})
		f := l.open("a", os.O_WRONLY|how)
		l.write(f, "56", 2)
		f.Close()
		l.want(l.finish(lose), map[string]string{"a": "1256"})
	}
}

// Without a cache in between, as databases open their files: the write arrives as it was issued, and is not durable for it.
func TestDirectWritesNeedASync(t *testing.T) {
	const page = 4096
	old := strings.Repeat("a", 4*page)
	l := lay(t, map[string]string{"a": old})
	f := l.open("a", os.O_RDWR|unix.O_DIRECT)
	memory, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	must(t, err)
	defer func() { must(t, unix.Munmap(memory)) }()
	copy(memory, bytes.Repeat([]byte("b"), page))
	_, err = f.WriteAt(memory, page)
	must(t, err)
	must(t, unix.Fdatasync(int(f.Fd())))
	copy(memory, bytes.Repeat([]byte("c"), page))
	for _, at := range []int64{0, page, 3 * page} {
		_, err = f.WriteAt(memory, at)
		must(t, err)
	}
	f.Close()
	l.want(l.finish(lose), map[string]string{"a": old[:page] + strings.Repeat("b", page) + old[2*page:]})
}

// What is mapped becomes durable by msync, and what is not is forgotten although the kernel still writes it.
func TestMappedWritesNeedASync(t *testing.T) {
	const page = 4096
	old := strings.Repeat("a", 2*page)
	l := lay(t, map[string]string{"a": old})
	f := l.open("a", os.O_RDWR)
	memory, err := unix.Mmap(int(f.Fd()), 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	copy(memory, "synced")
	must(t, unix.Msync(memory, unix.MS_SYNC))
	copy(memory[page:], "not")
	copy(memory, "again.")
	must(t, unix.Munmap(memory))
	f.Close()
	l.want(l.finish(lose), map[string]string{"a": "synced" + old[6:]})
}

func TestSizesAreForgotten(t *testing.T) {
	old := strings.Repeat("a", 9000)
	l := lay(t, map[string]string{"cut": old, "cut and grown": old, "allocated": "1", "punched": old, "emptied": "full"})
	must(t, os.Truncate(l.at("cut"), 100))
	f := l.open("cut and grown", os.O_RDWR)
	must(t, f.Truncate(5000))
	l.write(f, "new", 8000)
	must(t, f.Close())
	f = l.open("allocated", os.O_RDWR)
	must(t, unix.Fallocate(int(f.Fd()), 0, 0, 1<<20))
	must(t, f.Close())
	f = l.open("punched", os.O_RDWR)
	must(t, unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 8192))
	must(t, f.Close())
	must(t, l.open("emptied", os.O_WRONLY|os.O_TRUNC).Close())
	if got := tree(t, l.folder); len(got["cut"]) != 100 || len(got["allocated"]) != 1<<20 || got["punched"][:10] != strings.Repeat("\x00", 10) || got["emptied"] != "" {
		t.Error("not as it was asked for")
	}
	l.want(l.finish(lose), map[string]string{"cut": old, "cut and grown": old, "allocated": "1", "punched": old, "emptied": "full"})
}

func TestNamesAreForgotten(t *testing.T) {
	l := lay(t, map[string]string{"a": "1", "b": "2", "c": "3", "folder/x": "x", "empty/y": "y"})
	must(t, os.Rename(l.at("a"), l.at("b"))) // replaces it
	must(t, os.Remove(l.at("c")))
	must(t, os.WriteFile(l.at("d"), []byte("4"), 0o600))
	must(t, os.Rename(l.at("d"), l.at("folder/d")))
	must(t, os.Mkdir(l.at("new"), 0o700))
	must(t, os.Symlink("b", l.at("link")))
	must(t, os.Link(l.at("b"), l.at("hard")))
	must(t, os.Remove(l.at("empty/y")))
	must(t, os.Remove(l.at("empty")))
	l.want(tree(t, l.folder), map[string]string{"b": "1", "folder/": "", "folder/x": "x", "folder/d": "4", "new/": "", "link": "1", "hard": "1"})
	l.want(l.finish(lose), map[string]string{"a": "1", "b": "2", "c": "3", "folder/": "", "folder/x": "x", "empty/": "", "empty/y": "y"})
}

// As journaling file systems do it: a new file's name may be durable, by another file's sync, before its contents are.
func TestASyncMakesNamesDurableThatCameBefore(t *testing.T) {
	sync := map[string]func(l *layer){
		"of another file": func(l *layer) {
			f := l.open("other", os.O_RDWR)
			must(l.t, f.Sync())
			must(l.t, f.Close())
		},
		"of the folder": func(l *layer) {
			f := l.open(".", os.O_RDONLY)
			must(l.t, f.Sync())
			must(l.t, f.Close())
		},
	}
	for name, sync := range sync {
		t.Run(name, func(t *testing.T) {
			l := lay(t, map[string]string{"other": "o", "removed": "r", "a": "1"})
			must(t, os.WriteFile(l.at("new"), []byte("unsynced writes"), 0o600))
			must(t, os.Remove(l.at("removed")))
			must(t, os.Rename(l.at("a"), l.at("b")))
			sync(l)
			must(t, os.Remove(l.at("b")))
			l.want(l.finish(lose), map[string]string{"other": "o", "new": "", "b": "1"})
		})
	}
}

// A file without a name is still its holders' file; when it is gone for good there is nothing to keep for it.
func TestARemovedFileThatIsOpenGoesOn(t *testing.T) {
	l := lay(t, map[string]string{"a": "1", "other": "o"})
	f := l.open("a", os.O_RDWR)
	must(t, os.Remove(l.at("a")))
	l.write(f, "23", 1)
	other := l.open("other", os.O_RDWR)
	must(t, other.Sync()) // the removal is durable
	l.write(f, "45", 3)
	must(t, f.Truncate(4))
	text := make([]byte, 4)
	if _, err := f.ReadAt(text, 0); err != nil || string(text) != "1234" {
		t.Errorf("read %q, %v", text, err)
	}
	f.Close()
	other.Close()
	l.want(l.finish(lose), map[string]string{"other": "o"})
}

// Writers that do not wait for one another, each syncing its own: nothing that a sync confirmed is missing afterwards.
func TestSyncsSideBySide(t *testing.T) {
	const writers, rounds = 8, 50
	l := lay(t, map[string]string{"log": strings.Repeat(".", writers*4096)})
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			f, err := os.OpenFile(l.at("log"), os.O_RDWR, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for round := range rounds {
				_, err := f.WriteAt([]byte{byte('A' + round%26)}, int64(w*4096+round))
				if err == nil {
					err = f.Sync()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
			if _, err := f.WriteAt([]byte("lost"), int64(w*4096+rounds)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got := l.finish(lose)["log"]
	for w := range writers {
		for round := range rounds {
			if got[w*4096+round] != byte('A'+round%26) {
				t.Fatalf("writer %d: what round %d synced is gone", w, round)
			}
		}
	}
}
