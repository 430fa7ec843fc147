package superdisk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Filling is how far a file system is filled with the files of another, as a mark in it says.
type Filling string

// What a file system may be like. Only one that was begun is copied to again: any other may have newer files than those it was filled with.
const (
	Empty   Filling = "empty"
	Begun   Filling = "filling"
	Filled  Filling = "filled"
	Foreign Filling = "files of its own" // files and no mark
)

// FillingMark is the name of the mark, at the top of the file system.
const FillingMark = ".plimsoll-filling"

// FillingOf looks at a file system that is mounted.
func FillingOf(ctx context.Context, m infra.Machine, at string) (Filling, error) {
	data, err := m.ReadFile(ctx, path.Join(at, FillingMark))
	switch text := Filling(strings.TrimSpace(string(data))); {
	case err == nil && (text == Begun || text == Filled):
		return text, nil
	case err == nil:
		return Foreign, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	names, err := m.List(ctx, at)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "."+FillingMark) { // what a write of the mark that was cut off leaves
			return Foreign, nil
		}
	}
	return Empty, nil
}

// MarkFilling writes the mark.
func MarkFilling(ctx context.Context, m infra.Machine, at string, f Filling) error {
	return m.WriteFile(ctx, path.Join(at, FillingMark), []byte(string(f)+"\n"), 0o600)
}

// Unmark takes the mark away.
func Unmark(ctx context.Context, m infra.Machine, at string) error {
	return m.Remove(ctx, path.Join(at, FillingMark))
}

// CopyFiles copies all files below a folder, with their owners and times, on disk when it returns, and compares their names and sizes.
// The mark of what is filled is left out; a source that has one is refused.
func CopyFiles(ctx context.Context, m infra.Machine, from, to, mark string) error {
	const script = `[ ! -e "$1/$3" ] || { echo "$1/$3 is there: this file marks a disk that Plimsoll fills; remove it" >&2; exit 1; }
cp -a "$1/." "$2/" && sync -f "$2" || exit 1
list() { (cd "$1" && find . -type f ! -path "./$2" ! -path "./.$2.*" -printf '%P %s\n' | sort | sha256sum); }
[ "$(list "$1" "$3")" = "$(list "$2" "$3")" ] || { echo "the copy has other files than $1: check whether a program is still writing there" >&2; exit 1; }`
	_, err := m.Run(ctx, infra.Command{Path: "sh", Args: []string{"-c", script, "sh", from, to, FillingMark}, Mark: mark})
	if err != nil {
		err = fmt.Errorf("copy %s of %s: %w", from, m.Name(), err)
		if is, seen := m.Space(ctx, to); seen == nil && is.DiskFree < almostNothing {
			err = hint.With(err, "the file system at "+to+" on "+m.Name()+" is full. "+from+" is as it was: use a larger disk for the copy")
		}
	}
	return err
}

// almostNothing is free where a copy stopped because the disk was full.
const almostNothing = 64 << 10
