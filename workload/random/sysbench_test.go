package random

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestSameAsSysbench draws with the real sysbench and compares (two-sample chi-square).
func TestSameAsSysbench(t *testing.T) {
	if testing.Short() {
		t.Skip("runs sysbench")
	}
	sysbench, err := exec.LookPath("sysbench")
	if err != nil {
		t.Skip("sysbench is not on PATH")
	}
	const n, many = 1000, 200_000
	for name, d := range map[string]Distribution{
		"uniform": Uniform{}, "gaussian": Gaussian{12}, "special": Special{0.75, 0.01, 12}, "pareto": NewPareto(0.2),
	} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "draw.lua")
			text := "function event() for i = 1, " + strconv.Itoa(many) + " do print(sysbench.rand." + name + "(1, " + strconv.Itoa(n) + ")) end end\n"
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), sysbench, script, "--events=1", "--time=0", "--rand-seed=7", "run").Output()
			if err != nil {
				t.Fatal(err)
			}
			var theirs, ours [n]float64
			total := 0
			for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
				if k, err := strconv.Atoi(lines.Text()); err == nil {
					theirs[k-1]++
					total++
				}
			}
			if total != many {
				t.Fatalf("sysbench drew %d numbers", total)
			}
			r := New(11, 11)
			for range many {
				ours[d.Draw(r, n)]++
			}
			statistic, cells := 0.0, 0
			a, b := 0.0, 0.0
			for k := range n {
				a, b = a+theirs[k], b+ours[k]
				if a+b < 40 && k < n-1 {
					continue
				}
				if a+b > 0 {
					statistic += (a - b) * (a - b) / (a + b)
					cells++
				}
				a, b = 0, 0
			}
			if p := 1 - (distuv.ChiSquared{K: float64(cells - 1)}).CDF(statistic); p < 1e-4 {
				t.Errorf("chi-square %.1f over %d cells: p = %.2g", statistic, cells, p)
			}
		})
	}
}
