package price

import (
	"testing"

	"plimsoll/internal/document/documenttest"
)

func TestNoPricesPanic(t *testing.T) {
	const whole = `
currency: EUR
sources: {own: {date: 2026-11-01, text: our contract}}
classes: {db.m5.large: {cores: 2, gib: 8, processor: x86_64, network: Up to 10 Gigabit, iops: 3600, burst_iops: 18750, mbps: 81.2, burst_mbps: 593.8}}
caches: {cache.t4g.micro: {gib: 0.5}}
regions:
  eu-central-1:
    classes: {db.m5.large: {hour: 0.2, source: own}}
`
	read := func(text []byte) error {
		base, err := parse("base.yaml", []byte(whole))
		if err != nil {
			return err
		}
		over, err := parse("mutant.yaml", text)
		if err != nil {
			return err
		}
		return base.override(over, "mutant.yaml")
	}
	if err := read([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	documenttest.EachMutant(t, whole, func(text []byte) { _ = read(text) })
}
