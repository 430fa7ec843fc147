package store

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"

	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/tsdb/tsdbutil"
)

// damagedFolder is where blocks are put that cannot be read.
const damagedFolder = "damaged"

// openPastDamage opens the folder. Blocks that cannot be read are put aside, where a person may look at them; tsdb alone would refuse to
// open the folder for the sake of one.
func openPastDamage(folder string, log *slog.Logger, options *tsdb.Options) (*tsdb.DB, error) {
	db, err := tsdb.Open(folder, log, nil, options, nil)
	if err == nil {
		return db, nil
	}
	aside, errAside := putAside(folder, log)
	if errAside != nil || aside == 0 {
		return nil, errors.Join(err, errAside)
	}
	return tsdb.Open(folder, log, nil, options, nil)
}

// blockName is how tsdb names the folders of blocks: 26 letters and digits in Crockford's alphabet.
var blockName = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{26}$`)

// putAside moves the blocks that cannot be read, unless another process has the folder.
func putAside(folder string, log *slog.Logger) (moved int, err error) {
	lock, err := tsdbutil.NewDirLocker(folder, "tsdb", log, nil)
	if err != nil {
		return 0, err
	}
	if lock.Lock() != nil {
		return 0, nil // why it cannot be opened is known then
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, fmt.Errorf("look for damaged blocks: %w", err)
	}
	for _, e := range entries {
		if !blockName.MatchString(e.Name()) || !e.IsDir() {
			continue
		}
		path := filepath.Join(folder, e.Name())
		damage := readable(path, log)
		if damage == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Join(folder, damagedFolder), 0o700); err != nil {
			return moved, fmt.Errorf("move a damaged block away: %w", err)
		}
		to := filepath.Join(folder, damagedFolder, e.Name())
		if err := os.Rename(path, to); err != nil {
			return moved, fmt.Errorf("move a damaged block away: %w", err)
		}
		moved++
		log.Error("a block of series cannot be read and was moved away: its period is a gap", "block", e.Name(), "to", to, "error", damage)
	}
	return moved, nil
}

// readable tells what is wrong with a block.
func readable(path string, log *slog.Logger) error {
	block, err := tsdb.OpenBlock(log, path, nil, nil)
	if err != nil {
		return err
	}
	return block.Close()
}
