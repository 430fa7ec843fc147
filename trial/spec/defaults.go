package spec

import (
	"math/rand/v2"
	"strconv"
	"time"

	"plimsoll/internal/document"
)

// defaults fills in what was not said, in the spec and in the document that is kept with the result.
func (t *Trial) defaults() {
	s, root := &t.Spec, t.Document
	phases := root.Get("phases")
	if phases == nil || phases.Kind != document.Mapping {
		phases = &document.Node{Kind: document.Mapping}
		root.Put("phases", phases)
	}
	fill := func(in *document.Node, key, text string) {
		if in.Get(key) == nil {
			in.Put(key, &document.Node{Kind: document.Scalar, Text: text, File: in.File, Line: in.Line, Column: in.Column})
		}
	}
	if s.Cluster.Nodes == 0 {
		s.Cluster.Nodes = 1
	}
	if s.Phases.WarmupLimit == 0 {
		s.Phases.WarmupLimit = 5 * time.Minute
	}
	if s.Phases.Measure == 0 {
		s.Phases.Measure = time.Minute
	}
	t.OneRound = s.Phases.Rounds == 1
	given := s.Phases.Rounds != 0
	if !given {
		if s.Phases.Rounds = 3; s.Cluster.Target != "" && len(s.Timeline) > 0 { // what was changed there is not put back for another round
			s.Phases.Rounds = 1
		}
	}
	if s.Phases.Restore == "" {
		if s.Phases.Restore = RestoreEach; s.Cluster.Target != "" {
			s.Phases.Restore = RestoreNever
		}
	}
	if s.Confidence == 0 {
		s.Confidence = 0.99
	}
	if s.Seed == 0 {
		s.Seed = rand.Uint64()>>1 | 1
	}
	if s.Cluster.Target == "" {
		fill(root.Get("cluster"), "nodes", strconv.Itoa(s.Cluster.Nodes))
	}
	fill(phases, "warmup", "steady")
	fill(phases, "warmup_limit", s.Phases.WarmupLimit.String())
	fill(phases, "measure", s.Phases.Measure.String())
	if given || s.Phases.Rounds > 1 { // a single round is written by who wants to be judged by it
		fill(phases, "rounds", strconv.Itoa(s.Phases.Rounds))
	}
	fill(phases, "restore", string(s.Phases.Restore))
	fill(root, "confidence", strconv.FormatFloat(s.Confidence, 'f', -1, 64))
	fill(root, "seed", strconv.FormatUint(s.Seed, 10))
}

func (l *Load) defaults() {
	if l.Connections == 0 {
		if l.Connections = 16; l.Open() {
			l.Connections = 64
		}
	}
	if l.Arrivals == "" {
		l.Arrivals = Poisson
	}
	if l.To == "" {
		l.To = ToPrimary
	}
	if l.Reads == "" {
		l.Reads = ReadPrimary
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
}
