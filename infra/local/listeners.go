package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/infra"
)

// Listeners returns where a process of this machine listens for TCP connections: proc(5). errors.ErrUnsupported where the
// system does not show a process's sockets.
func Listeners(process int) ([]netip.AddrPort, error) {
	dir := filepath.Join("/proc", strconv.Itoa(process))
	files, err := os.ReadDir(filepath.Join(dir, "fd"))
	if errors.Is(err, fs.ErrNotExist) && process == os.Getpid() {
		return nil, errors.ErrUnsupported
	}
	if err != nil {
		return nil, fmt.Errorf("list the sockets of process %d: %w", process, err)
	}
	own := map[string]bool{}
	for _, f := range files {
		to, err := os.Readlink(filepath.Join(dir, "fd", f.Name()))
		if number, is := strings.CutPrefix(to, "socket:["); err == nil && is { // else it was closed meanwhile, or is a file
			own[strings.TrimSuffix(number, "]")] = true
		}
	}
	var all []netip.AddrPort
	for _, table := range []string{"tcp", "tcp6"} {
		data, err := os.ReadFile(filepath.Join(dir, "net", table))
		if errors.Is(err, fs.ErrNotExist) {
			continue // no such protocol here
		}
		if err != nil {
			return nil, fmt.Errorf("read who listens: %w", err)
		}
		for _, l := range infra.ParseListeners(string(data)) {
			if own[l.Socket] {
				all = append(all, l.At)
			}
		}
	}
	return all, nil
}
