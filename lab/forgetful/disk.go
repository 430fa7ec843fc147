package forgetful

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"plimsoll/infra/disk/pace"
)

// Disk is what a layer holds its files to: the limits of a cloud's volume. It stands in a file that the layer reads again when it
// changes.
type Disk struct {
	ID     string      `json:"id"` // another one for every change
	Limits pace.Limits `json:"limits,omitzero"`
	Of     *pace.Disk  `json:"of,omitempty"` // the volume that the limits are of; nil: of none
	// Balance is the share of the bucket that is left when these limits begin; nil: as many credits as there were.
	Balance *float64 `json:"balance,omitempty"`
}

// DiskState is how a disk is, written beside it once a second.
type DiskState struct {
	ID      string    `json:"id"`
	At      time.Time `json:"at"`
	Credits float64   `json:"credits"`
	Balance float64   `json:"balance"` // share of the bucket; 1 where there is none
	IOPS    float64   `json:"iops"`    // that it gives now; 0: no limit
	Reads   int64     `json:"reads"`   // requests since the layer began
	Writes  int64     `json:"writes"`
}

// ReadDiskState reads what a layer wrote.
func ReadDiskState(data []byte) (s DiskState, err error) {
	if err = json.Unmarshal(data, &s); err != nil {
		err = fmt.Errorf("read the state of a disk: %w", err)
	}
	return s, err
}

// credits are those that a disk has after a time in which nothing was asked of it.
func (d Disk) credits(was DiskState, now time.Time) float64 {
	most := d.Limits.Burst.Credits
	switch {
	case was.ID == d.ID && d.ID != "": // the same one goes on
		return min(was.Credits+now.Sub(was.At).Seconds()*d.Limits.IOPS, most)
	case d.Balance != nil:
		return most * *d.Balance
	case was.ID == "":
		return most
	}
	return min(was.Credits, most)
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// replace writes a file so that nobody reads half of it.
func replace(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
