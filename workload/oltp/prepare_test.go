package oltp

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"plimsoll/internal/labtest"
)

// BenchmarkPrepare makes the same tables with sysbench and with ours, in turn, and reports the medians and their ratio:
// go test -run xxx -bench Prepare -benchtime 5x ./workload/oltp
func BenchmarkPrepare(b *testing.B) {
	program, err := exec.LookPath("sysbench")
	if err != nil {
		b.Skip("sysbench is not on PATH")
	}
	for _, tables := range []int{1, 4} {
		b.Run(fmt.Sprintf("tables=%d", tables), func(b *testing.B) { comparePrepare(b, program, tables, 1_000_000/tables) })
	}
}

func comparePrepare(b *testing.B, program string, tables, size int) {
	db := labtest.Up(b, "mariadb")
	host, port, err := net.SplitHostPort(db.Target.Addresses[0])
	if err != nil {
		b.Fatal(err)
	}
	w := of(b, db.Engine, "oltp_read_write", fmt.Sprintf("{tables: %d, table_size: %d}", tables, size))
	var theirs, ours []float64
	var bytes int
	for b.Loop() {
		start := time.Now()
		out, err := exec.CommandContext(b.Context(), program, "oltp_read_write", "--mysql-host="+host, "--mysql-port="+port, "--mysql-db=test",
			"--mysql-user="+db.Target.User, "--mysql-password="+string(db.Target.Password), "--threads="+strconv.Itoa(tables),
			"--tables="+strconv.Itoa(tables), "--table-size="+strconv.Itoa(size), "prepare").CombinedOutput()
		if err != nil {
			b.Fatalf("sysbench: %v\n%s", err, out)
		}
		theirs = append(theirs, time.Since(start).Seconds())
		if err := w.Cleanup(b.Context(), db); err != nil {
			b.Fatal(err)
		}
		start = time.Now()
		if err := w.Prepare(b.Context(), db, nil); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start).Seconds())
		bytes = tables * size * (4 + 4 + 119 + 59)
		if err := w.Cleanup(b.Context(), db); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(bytes)/1e6/median(theirs), "sysbench-MB/s")
	b.ReportMetric(float64(bytes)/1e6/median(ours), "our-MB/s")
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = theirs[i] / ours[i]
	}
	b.ReportMetric(median(ratios), "times-as-fast")
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
