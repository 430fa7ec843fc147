package aws

import (
	"context"
	"sync"
)

// Host is an instance of EC2 as the machine of a node, named by its id or found by its tags.
type Host struct {
	API      func(ctx context.Context) (*EC2, error)
	Instance string            // its id; "": it is found
	Tags     map[string]string // that no other instance carries
	Patience Patience

	mu    sync.Mutex
	found string
}

// ID is the instance's. One that is found by its tags stays the same from then on: another may come to carry them.
func (h *Host) ID(ctx context.Context) (string, error) {
	if h.Instance != "" {
		return h.Instance, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.found != "" {
		return h.found, nil
	}
	e, err := h.API(ctx)
	if err != nil {
		return "", err
	}
	m, err := e.FindMachine(ctx, h.Tags)
	if err == nil {
		h.found = m.ID
	}
	return m.ID, err
}

// Describe returns the instance as the API shows it.
func (h *Host) Describe(ctx context.Context) (Machine, error) {
	id, err := h.ID(ctx)
	if err != nil {
		return Machine{}, err
	}
	e, err := h.API(ctx)
	if err != nil {
		return Machine{}, err
	}
	return e.Machine(ctx, id)
}

// Running tells whether the instance may still write anything: it is neither stopped nor terminated.
func (h *Host) Running(ctx context.Context) (bool, error) {
	m, err := h.Describe(ctx)
	return !m.Stopped(), err
}

// Zone is where it stands.
func (h *Host) Zone(ctx context.Context) (string, error) {
	m, err := h.Describe(ctx)
	return m.Zone, err
}

// Kill stops the instance at once and sees it stopped. What is on its own disks is lost.
func (h *Host) Kill(ctx context.Context) error {
	id, err := h.ID(ctx)
	if err != nil {
		return err
	}
	e, err := h.API(ctx)
	if err != nil {
		return err
	}
	return e.Stop(ctx, id, h.Patience)
}
