package replication

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/hint"
)

// A source that follows the server itself is refused. Where that is only configured, and stopped, there is a way out.
func TestAWayOutOfACircle(t *testing.T) {
	for name, c := range map[string]struct {
		receives, applies, mariadb bool
		advice                     string
		out                        bool
	}{
		"it follows":               {true, true, false, "RESET", false},
		"it is connected":          {true, false, false, "RESET", false},
		"it is stopped":            {false, false, false, "if n1 is meant to be the primary, execute RESET REPLICA ALL on it", true},
		"it is stopped on MariaDB": {false, false, true, "execute RESET SLAVE ALL on it", true},
	} {
		t.Run(name, func(t *testing.T) {
			n1 := following(engine.Source{Address: "n2:3306", Receives: c.receives, Applies: c.applies})
			on := standIns{"n1": n1, "n2": following()}.cluster(t)
			source, err := serverOf(t.Context(), on, "n1")
			if err != nil {
				t.Fatal(err)
			}
			replica, err := serverOf(t.Context(), on, "n2")
			if err != nil {
				t.Fatal(err)
			}
			source.mariadb, replica.mariadb = c.mariadb, c.mariadb
			var refusal *hint.PermanentError
			if err := (link{replica, source}).refuseCircle(t.Context()); !errors.As(err, &refusal) || strings.Contains(refusal.Advice, c.advice) != c.out {
				t.Errorf("%v: %+v", err, refusal)
			}
		})
	}
}
