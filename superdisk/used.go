package superdisk

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/infra"
)

// Used is how many bytes of the file system at a place are in use.
func Used(ctx context.Context, m infra.Machine, mount string) (int64, error) {
	out, err := m.Run(ctx, infra.Command{Path: "stat", Args: []string{"-f", "-c", "%S %b %f", mount}})
	if err != nil {
		return 0, fmt.Errorf("ask what %s uses: %w", mount, err)
	}
	var n [3]int64 // the size of a block; how many there are; how many are free
	for i, word := range strings.Fields(string(out.Stdout)) {
		if i < 3 {
			if n[i], err = strconv.ParseInt(word, 10, 64); err != nil {
				return 0, fmt.Errorf("ask what %s uses: %w", mount, err)
			}
		}
	}
	return n[0] * (n[1] - n[2]), nil
}
