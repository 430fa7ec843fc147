package spec

import (
	"time"

	"plimsoll/engine"
	"plimsoll/internal/document"
)

// ReadCache is a read cache in front of the database: a real Valkey beside the lab's servers, which the load asks first.
type ReadCache struct {
	Memory document.Size `yaml:"memory,required" doc:"Memory for cached answers, such as 64M. The least recently used are evicted first."`
	For    time.Duration `yaml:"for,nonzero" doc:"How long an answer is kept, and so how old it can be: writes do not invalidate the cache. Default 10m."`
}

// UsualKeep is how long an answer is kept unless the trial says it.
const UsualKeep = 10 * time.Minute

// suitCache refuses a cache where Plimsoll does not run the servers, or nothing in SQL only reads.
func (l Load) suitCache(n *document.Node, t *Trial, e engine.Engine) error {
	if l.Cache == nil {
		return nil
	}
	if t.Existing != nil {
		return at(n, "cache").Errorf("cache with an existing cluster (%s): Plimsoll starts a cache only beside a lab's servers", t.Existing.Name)
	}
	if _, ok := e.(engine.Relational); !ok {
		return at(n, "cache").Errorf("cache with %s, which does not speak SQL", e.Name())
	}
	return nil
}
