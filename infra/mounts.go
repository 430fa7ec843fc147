package infra

import (
	"context"
	"fmt"
	"strings"
)

// Mount is a file system that is mounted somewhere.
type Mount struct {
	Path string
	Type string // ext4, tmpfs, fuse.NAME
}

// Mounts returns what is mounted on a Linux machine; of two on the same path, the lower first.
func Mounts(ctx context.Context, f Files) ([]Mount, error) {
	data, err := f.ReadFile(ctx, "/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read what is mounted: %w", err)
	}
	return parseMounts(string(data)), nil
}

// parseMounts reads the table of proc(5): the path is the fifth column, the type follows a lone hyphen.
func parseMounts(table string) []Mount {
	var all []Mount
	for line := range strings.Lines(table) {
		head, tail, found := strings.Cut(line, " - ")
		columns, types := strings.Fields(head), strings.Fields(tail)
		if found && len(columns) >= 5 && len(types) > 0 {
			all = append(all, Mount{Path: plainPath.Replace(columns[4]), Type: types[0]})
		}
	}
	return all
}

// plainPath undoes how the kernel writes what would look like the end of a column.
var plainPath = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
