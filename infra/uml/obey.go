//go:build linux

package uml

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"plimsoll/infra/disk"
)

// serve answers orders until the machine has gone.
func (m *monitor) serve() error {
	l, err := listen("unix", controlFile)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(m.handle)}
	context.AfterFunc(m.ctx, func() { _ = server.Close() })
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("answer orders: %w", err)
	}
	return nil
}

func (m *monitor) handle(w http.ResponseWriter, r *http.Request) {
	var o order
	var out reply
	err := json.NewDecoder(r.Body).Decode(&o)
	if err == nil {
		out, err = m.obey(r.Context(), o)
	}
	if err != nil {
		out.Error = err.Error()
		for name, is := range errorsByName {
			if errors.Is(err, is) {
				out.Is = name
			}
		}
	}
	_ = json.NewEncoder(w).Encode(out) // who asked may have gone
}

func (m *monitor) obey(ctx context.Context, o order) (r reply, err error) {
	switch o.Do {
	case doPlug:
		if o.Conditions == nil {
			o.Conditions = &disk.Conditions{}
		}
		r.Slot, err = m.disks.plug(o.Volume, o.Path, *o.Conditions)
	case doExpose:
		err = m.expose(o.Address)
	case doCut:
		m.outside.cable.cut.Store(o.Cut)
	case doKill:
		m.kill()
	case doReport:
		r.Process, r.Cut = m.process.Pid, m.outside.cable.cut.Load()
	case doLocate, doPull, doCondition, doCorrupt, doCredits:
		var a *attached
		if a, r.Slot, err = m.disks.find(o.Volume); err != nil {
			return r, err
		}
		return r, a.obey(ctx, o, &r)
	default:
		err = fmt.Errorf("there is no order %q", o.Do)
	}
	return r, err
}

// obey does what concerns one volume.
func (a *attached) obey(ctx context.Context, o order, r *reply) error {
	switch o.Do {
	case doPull:
		a.cancel()
		select {
		case <-a.over:
		case <-ctx.Done():
			return ctx.Err()
		}
	case doCondition:
		a.disk.Set(*o.Conditions)
	case doCorrupt:
		return a.disk.Corrupt(o.Offset, o.Bytes)
	case doCredits:
		a.disk.SetCredits(o.Credits)
	}
	now := a.disk.Conditions()
	r.Conditions = &now
	return nil
}
