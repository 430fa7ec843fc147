//go:build linux

package forgetful

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkLayer is what a write of a log's block, one with a sync, and a write and a read of a page take with the layer and
// without.
func BenchmarkLayer(b *testing.B) {
	const size = 32 << 20
	for _, where := range []string{"bare", "layer"} {
		for name, do := range map[string]func(f *os.File, at int64) error{
			"log write":          func(f *os.File, at int64) error { return writeAt(f, 512, at) },
			"log write and sync": func(f *os.File, at int64) error { return first(writeAt(f, 512, at), unix.Fdatasync(int(f.Fd()))) },
			"page write":         func(f *os.File, at int64) error { return writeAt(f, 16384, at) },
			"page read": func(f *os.File, at int64) error {
				_, err := f.ReadAt(make([]byte, 16384), at)
				return err
			},
		} {
			b.Run(where+"/"+name, func(b *testing.B) {
				path := filepath.Join(b.TempDir(), "file")
				if where == "layer" {
					l := lay(b, map[string]string{"file": strings.Repeat("x", size)})
					path = l.at("file")
				} else if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
					b.Fatal(err)
				}
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := do(f, rand.Int64N(size/16384)*16384); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func writeAt(f *os.File, size int, at int64) error {
	_, err := f.WriteAt(make([]byte, size), at)
	return err
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
