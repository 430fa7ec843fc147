package uml

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"

	"plimsoll/infra"
	"plimsoll/infra/disk"
)

// order is what a monitor is asked to do.
type order struct {
	Do         string           `json:"do"`
	Volume     string           `json:"volume,omitempty"`
	Path       string           `json:"path,omitempty"`
	Conditions *disk.Conditions `json:"conditions,omitempty"`
	Offset     int64            `json:"offset,omitempty"`
	Bytes      []byte           `json:"bytes,omitempty"`
	Credits    float64          `json:"credits,omitempty"`
	Address    netip.AddrPort   `json:"address,omitzero"`
	Cut        bool             `json:"cut,omitempty"`
}

// reply is its answer.
type reply struct {
	Slot       int              `json:"slot"`
	Conditions *disk.Conditions `json:"conditions,omitempty"`
	Process    int              `json:"process,omitempty"` // of the kernel
	Cut        bool             `json:"cut,omitempty"`
	Error      string           `json:"error,omitempty"`
	Is         string           `json:"is,omitempty"` // which of errorsByName it is
}

// The orders of a monitor.
const (
	doPlug      = "plug"      // serve a volume in a slot
	doLocate    = "locate"    // which slot a volume is in, and its conditions
	doPull      = "pull"      // take a volume away from a kernel that does not answer
	doCondition = "condition" // give a volume other conditions
	doCorrupt   = "corrupt"
	doCredits   = "credits"
	doExpose    = "expose"
	doCut       = "cut" // or mend, the machine's network
	doKill      = "kill"
	doReport    = "report"
)

// errorsByName are the errors that callers branch on.
var errorsByName = map[string]error{"not attached": infra.ErrNotAttached, "in use": disk.ErrInUse, "not there": os.ErrNotExist}

// dialIn connects to a socket in a machine's folder, however long the folder's name is.
func dialIn(ctx context.Context, folder, name string) (net.Conn, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var d net.Dialer
	return d.DialContext(ctx, "unix", filepath.Join("/proc/self/fd", strconv.Itoa(int(f.Fd())), name))
}

// send gives a monitor an order.
func (m *Machine) send(ctx context.Context, o order) (r reply, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://machine/", bytes.NewReader(body))
	if err != nil {
		return r, err
	}
	response, err := m.control.Do(request)
	if err != nil {
		return r, errors.Join(fmt.Errorf("%s: ask its monitor to %s: %w", m.Name(), o.Do, err), m.lost(ctx))
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&r); err != nil {
		return r, fmt.Errorf("%s: ask its monitor to %s: %w", m.Name(), o.Do, err)
	}
	if r.Error != "" {
		return r, &refusal{fmt.Sprintf("%s: %s", m.Name(), r.Error), errorsByName[r.Is]}
	}
	return r, nil
}

// refusal is an error of a monitor.
type refusal struct {
	text string
	is   error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.is }
