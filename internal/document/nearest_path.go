package document

import (
	"os"
	"path/filepath"
	"strings"
)

// NearestPath returns the file that a person most likely meant by a path that is not there, "" where none is near: the first of its names that is
// not there may be mistyped.
func NearestPath(wrote string) string {
	wrote = filepath.Clean(wrote)
	names := strings.Split(wrote, string(filepath.Separator))
	meant := ""
	if filepath.IsAbs(wrote) {
		meant, names = string(filepath.Separator), names[1:]
	}
	for i, name := range names {
		next := filepath.Join(meant, name)
		if _, err := os.Stat(next); err != nil {
			entries, err := os.ReadDir(filepath.Clean(meant))
			if err != nil {
				return ""
			}
			var known []string
			for _, e := range entries {
				if last := i == len(names)-1; !last || !e.IsDir() {
					known = append(known, e.Name())
				}
			}
			near := nearestFile(name, known)
			if near == "" {
				return ""
			}
			next = filepath.Join(meant, near)
		}
		meant = next
	}
	if meant == wrote {
		return ""
	}
	return meant
}

// nearestFile is Nearest that does not count the letters of an ending that both names have.
func nearestFile(name string, known []string) string {
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	near := Nearest(name, known)
	if near == "" || filepath.Ext(near) != filepath.Ext(name) {
		return near
	}
	if Nearest(stem, []string{strings.TrimSuffix(near, filepath.Ext(near))}) == "" {
		return ""
	}
	return near
}
