package inventory

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"plimsoll/hint"
	"plimsoll/internal/document"
)

// Variable names the inventory for every command of a shell; the flag --inventory goes before it.
const Variable = "PLIMSOLL_INVENTORY"

// Locate finds the inventory: the file that $PLIMSOLL_INVENTORY names, else plimsoll.yaml in the working folder, in one of its
// parents, or in the configuration folder (~/.config/plimsoll). Where there is none it is that of the working folder, named says
// whether a person named it.
func Locate() (path string, named bool) {
	if path := os.Getenv(Variable); path != "" {
		return path, true
	}
	if is(File) {
		return File, false
	}
	if dir, err := os.Getwd(); err == nil {
		for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
			if path := filepath.Join(parent, File); is(path) {
				return path, false
			}
		}
	}
	if dir, err := os.UserConfigDir(); err == nil {
		if path := filepath.Join(dir, "plimsoll", File); is(path) {
			return path, false
		}
	}
	return File, false
}

func is(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Open reads the inventory that Locate finds. None is an empty one, unless a person named it.
func Open() (*Inventory, error) {
	path, named := Locate()
	if named {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, (&document.Node{File: path}).Errorf("there is no such file, and $%s names it as the inventory", Variable).
				WithHint("plimsoll init inventory %s writes one; unset %s has %s looked for here, in the parent folders and in ~/.config/plimsoll", hint.Quoted(path), Variable, File)
		}
	}
	return Read(path)
}
