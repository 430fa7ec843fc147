//go:build linux

package uml

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// wanted are the kernel's modules that a machine has: for disks, arrays and what can be done to them.
var wanted = []string{"virtio_blk", "raid1", "dm-mod", "dm-clone", "dm-delay", "dm-flakey"}

// modules are the files of these modules and of those they need, in the order in which they must be loaded.
func modules(folder string, names []string) ([]string, error) {
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if name, is := strings.CutSuffix(filepath.Base(path), ".ko"); is {
			files[plain(name)] = path
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for the kernel's modules: %w", err)
	}
	var order []string
	seen := map[string]bool{}
	var add func(name string) error
	add = func(name string) error {
		if name = plain(name); seen[name] {
			return nil
		}
		seen[name] = true
		file := files[name]
		if file == "" {
			return fmt.Errorf("the kernel has no module %s in %s", name, folder)
		}
		needs, err := needsOf(file)
		if err != nil {
			return err
		}
		for _, n := range needs {
			if err := add(n); err != nil {
				return err
			}
		}
		order = append(order, file)
		return nil
	}
	for _, name := range names {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// plain is a module's name as the kernel compares it.
func plain(name string) string { return strings.ReplaceAll(name, "-", "_") }

// needsOf reads which modules one needs: depends=a,b in its section .modinfo.
func needsOf(file string) ([]string, error) {
	object, err := elf.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read the module %s: %w", file, err)
	}
	defer func() { _ = object.Close() }() // it was only read
	info := object.Section(".modinfo")
	if info == nil {
		return nil, fmt.Errorf("read the module %s: it does not say what it needs", file)
	}
	data, err := info.Data()
	if err != nil {
		return nil, fmt.Errorf("read the module %s: %w", file, err)
	}
	for entry := range bytes.SplitSeq(data, []byte{0}) {
		if needs, is := strings.CutPrefix(string(entry), "depends="); is && needs != "" {
			return strings.Split(needs, ","), nil
		}
	}
	return nil, nil
}
