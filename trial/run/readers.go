package run

import (
	"context"
	"errors"
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/load"
	"plimsoll/series"
	"plimsoll/trial/spec"
	"plimsoll/workload"
)

// readers are the replicas of a cell's cluster, which answer reads.
type readers struct {
	*workload.Readers
	before map[string]int64 // that were answered
}

func (*readers) move([]string) {} // they look by themselves

// shares are how many reads each node answered since it was last asked; of the primary those in place of replicas.
func (r *readers) shares(at time.Time) []series.Point {
	var points []series.Point
	now := r.Answered()
	for _, node := range document.SortedKeys(now) {
		p := series.Point{Time: at, Signal: spec.ReadsAnswered, Node: node, Value: float64(now[node] - r.before[node])}
		if node == "" {
			p.Node = string(spec.ReadPrimary)
		}
		points = append(points, p)
	}
	r.before = now
	return points
}

func (r *readers) close() { _ = r.Close() } // the clients have ended

// readers spreads the reads of a cell's load over the replicas, and books who answers.
func (r *runner) readers(ctx context.Context, c *spec.Cell, s *servers, primary engine.Database, seed uint64) (load.Connect, placing, error) {
	all := workload.NewReaders(ctx, workload.Replicas{
		Nodes: s.members, MaxBehind: c.Load.MaxBehind,
		Open: func(ctx context.Context, node string) (engine.Database, error) {
			return s.openLoad(ctx, c.Load, spec.Dataset{Nodes: []string{node}, Namespace: spec.Namespace})
		},
		Ask: func(ctx context.Context, node string) (engine.Database, error) { return s.connect(ctx, "", node) },
		Changed: func(read []string, left map[string]error) {
			detail := map[string]any{"read": read}
			for node, fault := range left {
				detail["left_"+node] = fault.Error()
			}
			r.happened(series.Event{Kind: series.ReadsSpread, Cell: c.Name, Detail: detail})
		},
	})
	connect, err := all.Connect(c.Workload, primary, seed)
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	return connect, &readers{Readers: all}, nil
}
