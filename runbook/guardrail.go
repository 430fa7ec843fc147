package runbook

import (
	"time"

	"plimsoll/internal/document"
)

// Guardrail is a condition over live metrics that must not come true. While it does, no act begins.
type Guardrail struct {
	Name   string        `yaml:"name,required" json:"name" doc:"For messages."`
	When   string        `yaml:"when,required" json:"when" doc:"The breach: an expression over metrics, and baseline.METRIC, which is the mean before the first act. watch[\"PROMQL\"] is the value of a PromQL expression over the series of plimsoll watch; the largest, if there are several."`
	For    time.Duration `yaml:"for" json:"for_ns,omitempty" doc:"How long the breach must last before it counts, and how long it must be over before the run continues. If the first reading finds a breach, the run waits meanwhile, unless a step has changed something before. Default 0s."`
	Then   GuardThen     `yaml:"then" json:"then" doc:"pause: continue when it has cleared. stop: the run fails. Default pause."`
	NoData GuardThen     `yaml:"no_data" json:"no_data" doc:"When the metrics cannot be read. Default pause."`
}

// GuardThen is what becomes of the run when a guardrail is breached: it pauses, or it stops.
type GuardThen string

// What a breach does.
const (
	GuardPause GuardThen = "pause"
	GuardStop  GuardThen = "stop"
)

// UnmarshalDocument fills in the defaults too.
func (g *Guardrail) UnmarshalDocument(n *document.Node) error {
	type plain Guardrail
	p := plain{Then: GuardPause, NoData: GuardPause}
	if err := n.Decode(&p); err != nil {
		return err
	}
	*g = Guardrail(p)
	return nil
}

// UnmarshalDocument reads pause or stop.
func (t *GuardThen) UnmarshalDocument(n *document.Node) error {
	*t = GuardThen(n.Text)
	return oneOf(n, "response to a breach", string(GuardPause), string(GuardStop))
}
