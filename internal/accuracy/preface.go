package main

import "fmt"

// preface says what the page is, and how the numbers on it come about.
func preface(s study) string {
	share := ""
	if s.share != 1 {
		share = fmt.Sprintf(" This page was made with %s of the trials.", percent(s.share))
	}
	return fmt.Sprintf(`# Accuracy

How often Plimsoll is wrong, measured where the truth is known. `+"`make accuracy`"+` simulates all of it again, with the code that judges real
trials, and writes this page; a short version with bounds runs among the tests. Seed: %d.%s Shares come with their exact
95 %% interval in brackets: a 0 from 400 trials may be as much as 0.9 %%.

## How a verdict comes about

1. **The value** is computed from all rounds together: a percentile from the merged histograms, never from averaged percentiles.
2. **What the seconds explain.** Seconds are drawn anew a thousand times, in blocks, within each round (circular block bootstrap:
   Politis and Romano 1992), and the value is computed each time. Blocks are at least twice the correlation time τ and 1.5·√n long. τ comes
   from batch means over powers of two (the rule of latte: τ = max b·Var(means of b)/Var, while that is above 0.2·b), measured
   on each second's pull on the metric (for a percentile: how many more operations than their share lie above it). What blocks
   cut off is added back as for a first-order autoregression; the degrees of freedom are 1.5 for each block after the first
   (Meketon and Schmeiser 1984).
3. **What the rounds show.** Each round in turn is left out (jackknife: Efron 1982), both cells' together, and for a ratio also each cell's by
   itself (Welch 1947); the narrower of the two intervals counts, each at half the level. How much more the rounds differ than
   their seconds explain is weighed with a heavy-tailed prior (after Gelman 2006) and integrated over. With one round there is
   nothing to see, and the interval speaks of that round only.
4. **What so few operations allow.** Where it is wider, the binomial interval of the operations holds: of a share of errors
   (Clopper and Pearson 1934), of a percentile by ranks. Among 300 operations nothing bounds p99.9 from above.
5. **The verdict**: PASS if all of the interval is inside the margin, FAIL if none of it is, else INCONCLUSIVE. Ratios and positive metrics
   are judged on the log scale. The claims of a trial share the 1 %% by Holm's (1979) procedure, and each finding shows its interval
   at the confidence at which it was judged.

## The simulated services

Each second has a level; its log is a first-order autoregression with a known correlation from one second to the next. The level
stretches the times of the second's 1,000 operations and lowers throughput by its root. Times are log-normal around 2 ms
(σ = 0.5) with a Pareto tail of index 2.5 for the slowest twentieth, so that p99 is more than four times the median.

Not covered: levels that are not autoregressive of first order (periodic checkpoints, rare stalls), noise that changes with the load, cells
that disturb each other, a level that drifts over the whole trial. Real servers stand in the last two sections.
`, s.seed, share)
}
