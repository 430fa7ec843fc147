package run

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"plimsoll/result"
	"plimsoll/trial/progress"
	"plimsoll/trial/spec"

	"plimsoll/engine"
	"plimsoll/lab"
)

// stage brings the servers into a cell's state: its data, its settings, its nodes. It returns the names of its nodes.
func (r *runner) stage(ctx context.Context, c *spec.Cell, round int, s *servers) ([]string, error) {
	if s.existing != nil {
		return nil, nil
	}
	if r.trial.Phases.Restore == spec.RestoreNever {
		return s.names(c.Cluster.Nodes), errors.Join(adjustSettings(ctx, c, s), giveDisk(ctx, r.trial, c, s, true))
	}
	r.observe(progress.Stage{Doing: progress.Restoring, Cell: c.Name, Round: round, Share: -1})
	if !s.fresh {
		if err := s.cluster.Kill(ctx); err != nil { // what they have not written yet is thrown away anyway
			return nil, err
		}
		if err := s.cluster.Restore(ctx); err != nil {
			return nil, fmt.Errorf("restore the data: %w", err)
		}
	}
	s.fresh = false
	if s.unsettled || !maps.Equal(s.config, c.Cluster.Config) {
		if err := s.cluster.Reconfigure(ctx, c.Cluster.Config); err != nil {
			return nil, err
		}
		s.config, s.unsettled = maps.Clone(c.Cluster.Config), false
	}
	if err := giveDisk(ctx, r.trial, c, s, true); err != nil {
		return nil, err
	}
	nodes := s.names(c.Cluster.Nodes)
	if err := s.cluster.Start(ctx, nodes...); err != nil {
		return nil, fmt.Errorf("start the cluster: %w", err)
	}
	return nodes, nil
}

// giveDisk gives the servers the disk of a cell: with a full bucket while they start and warm up, and as the trial says from then on.
func giveDisk(ctx context.Context, t *spec.Trial, c *spec.Cell, s *servers, full bool) error {
	if s.existing != nil || !t.Limited() {
		return nil
	}
	d := c.Disk
	if d == nil {
		d = lab.Unlimited()
	}
	begin := *d
	if all := 1.0; full || begin.Balance == nil {
		begin.Balance = &all
	}
	return s.cluster.SetDisk(ctx, &begin)
}

// names are the first n nodes; the others are idle.
func (s *servers) names(n int) []string {
	var names []string
	for _, node := range s.cluster.Nodes() {
		names = append(names, node.Name)
	}
	s.idle = names[n:]
	return names[:n:n]
}

// adjustSettings changes the settings of a server that runs on, by a restart only where it demands one. Of several servers only one
// would hear of a change, so they are restarted.
func adjustSettings(ctx context.Context, c *spec.Cell, s *servers) error {
	want := c.Cluster.Config
	if maps.Equal(s.config, want) {
		return nil
	}
	db, err := s.connect(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	restart := len(s.cluster.Nodes()) > 1
	for name := range s.config {
		if _, kept := want[name]; !kept {
			restart = true // back to a default that only the server knows
		}
	}
	settings, ok := engine.As[engine.Configurable](db)
	for name, value := range want {
		if s.config[name] == value || restart {
			continue
		}
		if !ok {
			restart = true
			break
		}
		err := settings.Change(ctx, name, value)
		var needs *engine.NeedsRestart
		if errors.As(err, &needs) {
			restart = true
			break
		}
		if err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	if restart {
		if err := s.cluster.Reconfigure(ctx, want); err != nil {
			return err
		}
	}
	s.config = maps.Clone(want)
	return nil
}

// verify reads every setting of a cell back and refuses to measure what is not so.
func (r *runner) verify(ctx context.Context, c *spec.Cell, db engine.Database) error {
	settings, ok := engine.As[engine.Configurable](db)
	if !ok {
		return nil
	}
	for name, wrote := range c.Cluster.Config {
		shown, err := settings.Setting(ctx, name)
		var unshown *engine.Unshown
		if errors.As(err, &unshown) {
			r.settings = noteSetting(r.settings, result.Setting{Cell: c.Name, Name: name, Wrote: wrote, Shown: "(not shown by the server)"})
			continue
		}
		if err != nil {
			return fmt.Errorf("read the setting %s back: %w", name, err)
		}
		if !settings.SameValue(name, wrote, shown) {
			return fmt.Errorf("the server runs with %s = %s although %s was requested", name, shown, wrote)
		}
		r.settings = noteSetting(r.settings, result.Setting{Cell: c.Name, Name: name, Wrote: wrote, Shown: shown})
	}
	return nil
}

func noteSetting(all []result.Setting, s result.Setting) []result.Setting {
	for _, have := range all {
		if have == s {
			return all
		}
	}
	return append(all, s)
}
