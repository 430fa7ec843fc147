package spec

import (
	"slices"

	"plimsoll/engine"
	"plimsoll/internal/document"
	"plimsoll/workload"
)

// Reads is who answers the operations of a load that only read.
type Reads string

// Who answers reads.
const (
	ReadPrimary  Reads = "primary"
	ReadReplicas Reads = "replicas" // the healthy ones; without one, the primary
)

// UnmarshalDocument reads who answers.
func (r *Reads) UnmarshalDocument(n *document.Node) error {
	*r = Reads(n.Text)
	if *r != ReadPrimary && *r != ReadReplicas {
		return document.UnknownName(n, "source of reads", []string{string(ReadPrimary), string(ReadReplicas)})
	}
	return nil
}

// suitReads refuses reads from replicas where there are none, or nothing that only reads.
func (l Load) suitReads(n *document.Node, t *Trial, parts Parts, e engine.Engine, w workload.Workload) error {
	if l.Reads != ReadReplicas {
		return nil
	}
	if !parts.Replicates(e) {
		return at(n, "reads_from").Errorf("reads_from: replicas, but %s has no replicas of a primary", e.Name())
	}
	if t.Existing != nil && len(t.Existing.Address.Addresses) < 2 {
		return at(n, "reads_from").Errorf("reads_from: replicas, but %s is one server", t.Existing.Name).
			WithHint("mysql://user@primary,replica,replica/database")
	}
	reading, ok := w.(workload.Reading)
	if !ok || !slices.Contains(reading.ReadOnly(), true) {
		return at(n, "reads_from").Errorf("reads_from: replicas, but %s has no operation that only reads", w.Name())
	}
	return nil
}

// Replicates tells whether servers of an engine follow one another.
func (p Parts) Replicates(e engine.Engine) bool {
	for _, product := range p.Products {
		if _, ok := product.Launcher.(engine.Replicator); ok && product.Engine.Name() == e.Name() {
			return true
		}
	}
	return false
}
