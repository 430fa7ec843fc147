package superdisk

import (
	"context"
	"errors"
	"testing"
	"time"

	"plimsoll/infra"
	"plimsoll/superdisk"
)

// provider is one that knows every volume and remembers what it was to take away.
type provider struct {
	infra.Volumes
	taken  []string
	taking func() // before a volume is taken away
	tagged error  // of every tag
}

func (p *provider) List(context.Context, map[string]string) ([]infra.Volume, error) { return nil, nil }

func (p *provider) Describe(_ context.Context, id string) (infra.Volume, error) {
	return infra.Volume{ID: "vol-1", Machine: "m1"}, nil
}

func (p *provider) Tag(context.Context, string, map[string]string) error { return p.tagged }

func (p *provider) ForceDetach(_ context.Context, id, _ string) error {
	if p.taking != nil {
		p.taking()
	}
	p.taken = append(p.taken, id)
	return nil
}

func TestTheOnlyLegInStepIsNotGivenUp(t *testing.T) {
	m := pretends(t, "network-alone")
	volumes := &provider{}
	on, task := m.cluster(volumes), m.task("superdisk.give-up").(*giveUp)
	_, err := task.Check(t.Context(), on)
	refused(t, err, "the network leg is the only one of sd that is in step")

	m.shows("whole")
	if _, err := task.Check(t.Context(), on); err != nil {
		t.Errorf("both legs are in step: %v", err)
	}
	s, err := superdisk.Inspect(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Find("sd")
	leg, _ := a.Leg(superdisk.Network)
	m.shows("network-alone") // the local leg is lost while the other is watched
	_, err = task.take(t.Context(), on, m, a, leg)
	refused(t, err, "the network leg is the only one of sd that is in step")
	if len(volumes.taken) > 0 {
		t.Errorf("taken away: %v", volumes.taken)
	}
	m.shows("whole")
	if out, err := task.take(t.Context(), on, m, a, leg); err != nil || len(volumes.taken) != 1 {
		t.Errorf("it hangs and the other is in step: %v, %v, taken %v", out, err, volumes.taken)
	}
}

// Writes wait for a leg that hangs: it is taken away though the record of it cannot be written, and the act says so.
func TestALegThatHangsIsTakenAwayWithoutARecord(t *testing.T) {
	m := pretends(t, "whole")
	volumes := &provider{tagged: errors.New("the API is throttled")}
	s, err := superdisk.Inspect(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := s.Find("sd")
	leg, _ := a.Leg(superdisk.Network)
	_, err = m.task("superdisk.give-up").(*giveUp).take(t.Context(), m.cluster(volumes), m, a, leg)
	if !errors.Is(err, volumes.tagged) || len(volumes.taken) != 1 || !m.did("--remove detached") {
		t.Errorf("%v, taken %v, ran %q", err, volumes.taken, m.ran)
	}
}

// A write waits from the last answer until the leg is taken away: the look that finds the time-out over comes when it is.
func TestALegThatHangsIsLookedAtWhenItsTimeIsOver(t *testing.T) {
	g := &giveUp{After: 3 * time.Second}
	for hung, want := range map[time.Duration]time.Duration{
		0: 250 * time.Millisecond, time.Second: 250 * time.Millisecond, 2900 * time.Millisecond: 100 * time.Millisecond,
		2999 * time.Millisecond: 10 * time.Millisecond, 4 * time.Second: 10 * time.Millisecond,
	} {
		if got := g.untilNext(hung); got != want {
			t.Errorf("it has hung for %s: the next look comes after %s, want %s", hung, got, want)
		}
	}
}
