package lab

import (
	"context"
	"strings"
	"testing"

	"plimsoll/hint"
	"plimsoll/infra"
)

// endsAtOnce is a process that ends when it is told to.
type endsAtOnce struct{ infra.Process }

func (endsAtOnce) ID() int                              { return 42 }
func (endsAtOnce) Signal(context.Context, string) error { return nil }
func (endsAtOnce) Wait(context.Context) error           { return nil }

// Programs that something starts anew whenever they end do not keep a lab from answering: it says so.
func TestProgramsThatStartAgainAndAgainAreNotEndedForever(t *testing.T) {
	for times, ends := range map[int]bool{0: true, 3: true, 1000: false} {
		looked := 0
		err := endUnmade(t.Context(), "n3", func() ([]infra.Process, error) {
			if looked++; looked > times {
				return nil, nil
			}
			return []infra.Process{endsAtOnce{}}, nil
		})
		if ends != (err == nil) || looked > 20 {
			t.Errorf("of programs that start %d times: %v, looked %d times", times, err, looked)
		}
		if !ends && (!strings.Contains(err.Error(), "node n3 was half made") || !strings.Contains(hint.Of(err), "plimsoll lab down")) {
			t.Errorf("it says %v: %s", err, hint.Of(err))
		}
	}
}
