package watch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// What could not be kept is known as lost, from the first sample on, and the rarest level of it is read again when there is room: only then is
// everything that a rule may ask for new.
func TestSamplesThatCouldNotBeKeptAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		second := func() int { return int(time.Since(begun).Seconds()) }
		levels := map[int]Level{}
		c := &fake{collect: func(_ context.Context, l Level, _ time.Time) (Reading, error) {
			levels[second()] = l
			return Reading{}, nil
		}}
		w := New(Config{Sources: []Source{source("a/n1", c)}, Keep: func(context.Context, []Sample) error {
			if s := second(); s >= 5 && s < 65 {
				return errors.New("no space left on device")
			}
			return nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(4500 * time.Millisecond)
		if since, _ := w.Unkept(); !since.IsZero() || w.Unread("a/n1", time.Now()) || w.Unread("", time.Now()) {
			t.Errorf("lost since %s before the disk is full", since)
		}
		time.Sleep(60 * time.Second)
		if since, why := w.Unkept(); !since.Equal(begun.Add(5*time.Second)) || why != "no space left on device" {
			t.Errorf("lost since %s: %s", since.Sub(begun), why)
		}
		if !w.Unread("a/n1", begun) || !w.Unread("", begun) || w.Unread("a/n2", begun) {
			t.Error("what was read with a full disk counts as known")
		}
		time.Sleep(time.Second) // one visit was kept since, of the seconds alone
		if !w.Unread("a/n1", begun) {
			t.Error("everything counts as known after one reading of the seconds")
		}
		time.Sleep(time.Second)
		if since, _ := w.Unkept(); !since.IsZero() || w.Unread("a/n1", begun) {
			t.Errorf("still lost since %s", since.Sub(begun))
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got := []Level{levels[64], levels[65], levels[66], levels[67]}; !slices.Equal(got, []Level{Second, Second, Minute, Second}) {
			t.Errorf("levels %v around the end", got)
		}
	})
}
