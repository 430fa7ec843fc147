package analyze

import (
	"encoding/json"
	"math"
)

// number is a float64 that JSON may not have: null then.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); !math.IsNaN(x) && !math.IsInf(x, 0) {
		return json.Marshal(x)
	}
	return []byte("null"), nil
}

// orElse is what a null stood for.
func (n *number) orElse(x float64) float64 {
	if n == nil {
		return x
	}
	return float64(*n)
}

// MarshalJSON implements json.Marshaler.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value      number  `json:"value"`
		Low        number  `json:"low"`
		High       number  `json:"high"`
		Confidence float64 `json:"confidence"`
		Effective  number  `json:"effective"`
	}{number(e.Value), number(e.Low), number(e.High), e.Confidence, number(e.Effective)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	type plain Estimate
	wire := struct {
		*plain
		Value *number `json:"value"`
		Low   *number `json:"low"`
		High  *number `json:"high"`

		Effective *number `json:"effective"`
	}{plain: (*plain)(e)}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	e.Value, e.Low, e.High = wire.Value.orElse(math.NaN()), wire.Low.orElse(math.Inf(-1)), wire.High.orElse(math.Inf(1))
	e.Effective = wire.Effective.orElse(math.NaN())
	return nil
}

// MarshalJSON implements json.Marshaler.
func (f JudgedClaim) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Expect     string  `json:"expect"`
		Verdict    Answer  `json:"verdict"`
		Estimate   number  `json:"estimate"`
		Low        number  `json:"low"`
		High       number  `json:"high"`
		Confidence float64 `json:"confidence"`
		Margin     float64 `json:"margin"`
		Needs      string  `json:"needs"`
		Op         string  `json:"op"`
		Unit       string  `json:"unit"`
		Of         Subject `json:"of,omitempty"`
		AtLeast    bool    `json:"at_least,omitempty"`
		NotJudged  bool    `json:"not_judged,omitempty"`
	}{f.Expect, f.Verdict, number(f.Estimate), number(f.Low), number(f.High), f.Confidence, f.Margin, f.Needs, f.Op, f.Unit, f.Of, f.AtLeast, f.NotJudged})
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *JudgedClaim) UnmarshalJSON(data []byte) error {
	type plain JudgedClaim
	wire := struct {
		*plain
		Estimate *number `json:"estimate"`
		Low      *number `json:"low"`
		High     *number `json:"high"`
	}{plain: (*plain)(f)}
	if err := json.Unmarshal(data, &wire); err != nil {
		return err
	}
	f.Estimate, f.Low, f.High = wire.Estimate.orElse(math.NaN()), wire.Low.orElse(math.Inf(-1)), wire.High.orElse(math.Inf(1))
	return nil
}
