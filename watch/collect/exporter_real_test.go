package collect

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"plimsoll/internal/prometheustest"
	"plimsoll/watch"
	"plimsoll/watch/api"
)

// exported are the metrics that mysqld_exporter itself shows of a server.
func (w *watched) exported() map[string]*dto.MetricFamily {
	w.t.Helper()
	program := prometheustest.Program(w.t, "prometheus-mysqld-exporter")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		w.t.Fatal(err)
	}
	server := exec.CommandContext(w.t.Context(), program, "--web.listen-address="+address)
	server.Env = append(os.Environ(), fmt.Sprintf("DATA_SOURCE_NAME=%s:%s@(%s)/", w.db.Target.User, string(w.db.Target.Password), w.db.Target.Addresses[0]))
	var said bytes.Buffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		w.t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Kill() // it is of no use any more
		_ = server.Wait()
	}()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		answer, err := http.Get("http://" + address + "/metrics") //nolint:noctx // it ends with the test
		if err == nil {
			text, err := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if err != nil {
				w.t.Fatal(err)
			}
			return w.families(nameless.ReplaceAll(text, nil))
		}
		if time.Now().After(end) {
			w.t.Fatalf("mysqld_exporter does not answer: %v: %s", err, &said)
		}
	}
}

// shown are the metrics that a watch shows of the server to a Prometheus.
func (w *watched) shown() map[string]*dto.MetricFamily {
	w.t.Helper()
	var latest api.Latest
	for _, c := range w.readers {
		r, err := c.Collect(w.t.Context(), watch.TenMinutes, time.Now())
		if err != nil {
			w.t.Fatal(err)
		}
		if err := latest.Append(w.t.Context(), r.Samples); err != nil {
			w.t.Fatal(err)
		}
	}
	answer := httptest.NewRecorder()
	latest.Metrics(time.Now).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	return w.families(answer.Body.Bytes())
}

// nameless are lines of metrics whose names are none: mysqld_exporter takes them from the server as they are, and those of MySQL 9 have blanks.
var nameless = regexp.MustCompile(`(?m)^.*option_tracker_usage:.*\n`)

func (w *watched) families(text []byte) map[string]*dto.MetricFamily {
	w.t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return families
}

// labelsOf are the names of a family's labels, and the values of the one that tells its lines apart.
func labelsOf(f *dto.MetricFamily) (names, values []string) {
	seen, told := map[string]bool{}, map[string]bool{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			seen[l.GetName()], told[l.GetValue()] = true, true
		}
	}
	return slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(told))
}

// onlyExported begin the names of what mysqld_exporter shows and a watch does not: how long its own questions took, and summaries of compressed
// pages and of users' query times, which servers have off.
var onlyExported = []string{"mysql_exporter_", "mysql_info_schema_"}

// asTheExporter holds what a watch shows beside what mysqld_exporter shows of the same server: a dashboard that asks one of them for a series finds
// it at the other, of the same kind and with the same labels. It returns what mysqld_exporter shows.
func (w *watched) asTheExporter() (exported map[string]*dto.MetricFamily) {
	exported = w.exported()
	shown := w.shown()
	if len(exported) < 200 {
		w.t.Fatalf("mysqld_exporter shows only %d metrics", len(exported))
	}
	for name, f := range exported {
		if !strings.HasPrefix(name, "mysql_") || slices.ContainsFunc(onlyExported, func(p string) bool { return strings.HasPrefix(name, p) }) {
			continue
		}
		ours := shown[name]
		if ours == nil {
			w.t.Errorf("mysqld_exporter shows %s, the watch does not", name)
			continue
		}
		if ours.GetType() != f.GetType() {
			w.t.Errorf("%s is %s, at mysqld_exporter %s", name, ours.GetType(), f.GetType())
		}
		names, values := labelsOf(f)
		ourNames, ourValues := labelsOf(ours)
		if !slices.Equal(names, ourNames) {
			w.t.Errorf("%s has the labels %q, at mysqld_exporter %q", name, ourNames, names)
		}
		for _, v := range values {
			if !slices.Contains(ourValues, v) && len(names) == 1 {
				w.t.Errorf("%s has no %s %s, which mysqld_exporter shows", name, names[0], v)
			}
		}
	}
	return exported
}
