package main

import (
	"fmt"

	"plimsoll/analyze"
)

// manyClaims is the section on trials that expect several things at once.
func manyClaims(s study) (string, error) {
	const claims = 6
	type result struct{ wrong, found, alone bool }
	results := repeat(s, "claims", s.trials(400), func(src *source) result {
		w := countedService(0.6)
		var asked []analyze.Claim
		for range claims - 1 {
			a, b := src.rounds(w, 5, 60, 1), src.rounds(w, 5, 60, 1)
			asked = append(asked, claim(analyze.Throughput(), b, ">=", a))
		}
		a, b := src.rounds(w, 5, 60, 1), src.rounds(w, 5, 60, 1/(0.95*0.95))
		asked = append(asked, claim(analyze.Throughput(), b, ">=", a))

		var r result
		findings := analyze.Judge(asked, analyze.Options{})
		for _, f := range findings[:claims-1] {
			r.wrong = r.wrong || f.Verdict != analyze.Inconclusive
		}
		r.found = findings[claims-1].Verdict == analyze.Fail
		r.alone = analyze.Judge(asked[claims-1:], analyze.Options{})[0].Verdict == analyze.Fail
		return r
	})
	share := func(holds func(result) bool) string { return count(results, holds).String() }
	return fmt.Sprintf(`A trial of %d claims over 5 × 60 s: in five the two cells are alike and the margin is exactly at the truth, so that any PASS or
FAIL among them is a matter of chance; in the sixth throughput is 5 %% lower and the claim that it is not should FAIL. Without
correction one trial in twenty would be wrong somewhere; the goal is one in a hundred.

- any of the five decided: %s
- the sixth found: %s; asked alone it would be: %s
`, claims, share(func(r result) bool { return r.wrong }), share(func(r result) bool { return r.found }), share(func(r result) bool { return r.alone })), nil
}
