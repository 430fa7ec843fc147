package superdisk

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/infra"
)

// pinging reads one page of each disk in a process of its own, which is left alone when it does not come back: nothing can end a
// process that waits for a disk that hangs. Such a process is found again by the next look, and tells since when: by the time since the
// machine started, in hundredths of a second, for a clock that is set forward meanwhile would make a moment an hour. Half a second is waited for
// those that were asked now alone: who hung at the look before holds nobody up.
const pinging = `
d=/run/plimsoll-superdisk; mkdir -p $d && chmod 700 $d || exit 1
read up _ </proc/uptime; up=${up%%.*}${up##*.}; fresh=
for v in "$@"; do
  f=$d/asked.${v##*/}
  if ! { [ -e $f ] && read p t <$f && kill -0 $p 2>/dev/null; }; then
    setsid dd if=$v of=/dev/null bs=4096 skip=1 count=1 iflag=direct </dev/null >/dev/null 2>&1 &
    echo "$! $up" >$f; fresh="$fresh $v"
  fi
done
for i in 1 2 3 4 5 6 7 8 9 10; do
  [ -n "$fresh" ] || break
  sleep 0.05; left=
  for v in $fresh; do f=$d/asked.${v##*/}; [ -e $f ] && read p t <$f && { kill -0 $p 2>/dev/null && left="$left $v" || rm -f $f; }; done
  fresh=$left
done
for v in "$@"; do f=$d/asked.${v##*/}; [ -e $f ] && read p t <$f && { kill -0 $p 2>/dev/null && echo "$v $((up - ${t:-$up}))" || rm -f $f; }; done
exit 0
`

// Ping asks every leg for one page and fills in for how long one has not answered. Requests under way alone do not tell: a leg that
// hangs in a flush has none, by the kernel's counters.
func (s *Status) Ping(ctx context.Context, m infra.Machine) error {
	return s.ping(ctx, m, func(Leg) bool { return true })
}

// PingSilent is Ping for those legs that a Watch has not seen to answer anything since the look before, and those that still owe the page
// of an earlier Ping: of an array that is used there are none, and no process is started.
func (s *Status) PingSilent(ctx context.Context, m infra.Machine) error {
	return s.ping(ctx, m, func(l Leg) bool { return !l.answered || l.asked })
}

func (s *Status) ping(ctx context.Context, m infra.Machine, which func(Leg) bool) error {
	var legs []string
	for _, a := range s.Arrays {
		for _, l := range a.Legs {
			if !l.Faulty() && which(l) {
				legs = append(legs, l.Device)
			}
		}
	}
	if len(legs) == 0 {
		return nil
	}
	out, err := m.Run(ctx, infra.Command{Path: "sh", Args: append([]string{"-c", pinging, "sh"}, legs...)})
	if err != nil {
		return fmt.Errorf("probe the legs on %s: %w", m.Name(), err)
	}
	for line := range strings.Lines(string(out.Stdout)) {
		device, age, _ := strings.Cut(strings.TrimSpace(line), " ")
		hundredths, err := strconv.Atoi(age)
		if err != nil {
			continue
		}
		for i := range s.Arrays {
			for j := range s.Arrays[i].Legs {
				if l := &s.Arrays[i].Legs[j]; l.Device == device {
					l.HungFor = max(l.HungFor, time.Duration(hundredths)*10*time.Millisecond)
				}
			}
		}
	}
	return nil
}
