package sink

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/watch"
)

// realSearch is a real OpenSearch of one node, whose process can be killed and begun again on the same data. It has no plugins: it
// knows data streams and templates, and no policies.
type realSearch struct {
	t       testing.TB
	jars    string
	program string   // the folder of its main class
	quick   []string // options of Java
	home    string
	port    string
	url     string
	process *exec.Cmd
}

// newRealSearch fetches it with Maven once, and starts it.
func newRealSearch(t testing.TB) *realSearch {
	t.Helper()
	if testing.Short() {
		t.Skip("starts OpenSearch")
	}
	for _, program := range []string{"java", "mvn"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	s := &realSearch{t: t, jars: filepath.Join(cache, "plimsoll", "opensearch-2.19.1"), home: t.TempDir()}
	if _, err := os.Stat(filepath.Join(s.jars, "complete")); err != nil {
		if out, err := exec.CommandContext(t.Context(), "mvn", "-q", "-B", "-f", "testdata/opensearch/pom.xml", "dependency:copy-dependencies", "-DoutputDirectory="+s.jars).CombinedOutput(); err != nil {
			t.Fatalf("fetch OpenSearch with mvn: %v\n%s", err, out)
		}
		if err := os.WriteFile(filepath.Join(s.jars, "complete"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.program = s.compiled()
	if _, is := t.(*testing.B); !is { // what runs for a minute is not worth Java's second compiler, nor the threads of its collector
		s.quick = []string{"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}
	}
	for _, folder := range []string{"config", "modules", "plugins"} {
		if err := os.MkdirAll(filepath.Join(s.home, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(free.Addr().String())
	_ = free.Close() // for it
	s.url = "http://127.0.0.1:" + s.port
	s.start()
	t.Cleanup(s.kill)
	return s
}

// compiled is the folder with the class that starts it, which is compiled once: Java would do so at every start.
func (s *realSearch) compiled() string {
	s.t.Helper()
	const source = "testdata/opensearch/OS.java"
	text, err := os.ReadFile(source)
	if err != nil {
		s.t.Fatal(err)
	}
	folder := filepath.Join(s.jars, fmt.Sprintf("main-%x", sha256.Sum256(text)))
	if _, err := os.Stat(filepath.Join(folder, "OS.class")); err == nil {
		return folder
	}
	jars, err := filepath.Glob(filepath.Join(s.jars, "*.jar"))
	if err != nil {
		s.t.Fatal(err)
	}
	if out, err := exec.CommandContext(s.t.Context(), "java", "-m", "jdk.compiler/com.sun.tools.javac.Main",
		"-cp", strings.Join(jars, string(filepath.ListSeparator)), "-d", folder, source).CombinedOutput(); err != nil {
		s.t.Fatalf("compile %s: %v\n%s", source, err, out)
	}
	return folder
}

func (s *realSearch) start() {
	s.t.Helper()
	// The process outlives no test: kill waits for it.
	classes := s.program + string(filepath.ListSeparator) + filepath.Join(s.jars, "*")
	s.process = exec.Command("java", append(s.quick, "-Xms512m", "-Xmx512m", "-cp", classes, "OS", s.home, s.port)...) //nolint:noctx // it is killed by hand
	log, err := os.OpenFile(filepath.Join(s.home, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	end := time.Now().Add(2 * time.Minute)
	for {
		if answer, err := http.Get(s.url + "/_cluster/health"); err == nil { //nolint:noctx // it ends with the test
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			text, _ := os.ReadFile(filepath.Join(s.home, "log"))
			s.t.Fatalf("OpenSearch does not start: %s", text[max(len(text)-2000, 0):])
		}
		<-time.After(100 * time.Millisecond)
	}
}

func (s *realSearch) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait() // killed
}

// One real OpenSearch is started for all that is looked at in it: each begins without a document.
func TestOnARealOpenSearch(t *testing.T) {
	s := newRealSearch(t)
	for _, look := range []struct {
		name string
		at   func(*testing.T, *realSearch)
	}{
		{"it goes and comes back", goesAndComesBack},
		{"two processes write into it", twoProcessesWrite},
		{"dashboards ask it", dashboardsAsk},
		{"the template decides what fields are", templateDecides},
	} {
		t.Run(look.name, func(t *testing.T) {
			s.t = t
			t.Cleanup(s.empty)
			look.at(t, s)
		})
	}
}

// empty takes away what was written into it, and the template.
func (s *realSearch) empty() {
	s.t.Helper()
	for _, path := range []string{"/_data_stream/plimsoll-watch", "/_index_template/plimsoll-watch"} {
		r, err := http.NewRequestWithContext(context.WithoutCancel(s.t.Context()), http.MethodDelete, s.url+path, nil)
		if err != nil {
			s.t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			s.t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			s.t.Fatalf("take away %s: %s", path, answer.Status)
		}
	}
}

// documentsIn counts what an OpenSearch has; -1: it does not say.
func documentsIn(t *testing.T, o *OpenSearch) int {
	t.Helper()
	var answer struct{ Count int }
	if o.ask(t.Context(), http.MethodPost, "/plimsoll-watch/_refresh", "application/json", nil, nil) != nil ||
		o.ask(t.Context(), http.MethodGet, "/plimsoll-watch/_count", "application/json", nil, &answer) != nil {
		return -1
	}
	return answer.Count
}

// Two processes that share a fleet write into one data stream at the same time, documents that are alike: those of both are there.
func twoProcessesWrite(t *testing.T, s *realSearch) {
	const each = 1000
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() {
		stop()
		running.Wait()
	}()
	shards := []*OpenSearch{opensearch(t, s.url, t.TempDir(), 4<<20), opensearch(t, s.url, t.TempDir(), 4<<20)}
	for _, o := range shards {
		running.Go(func() { _ = o.Run(ctx) }) // it ends with ctx
	}
	for n := range each {
		for _, o := range shards {
			o.Add(document(n))
		}
	}
	for end := time.Now().Add(2 * time.Minute); documentsIn(t, shards[0]) < 2*each && time.Now().Before(end); {
		<-time.After(200 * time.Millisecond)
	}
	if got := documentsIn(t, shards[0]); got != 2*each {
		t.Errorf("%d documents are there, of %d", got, 2*each)
	}
	for n, o := range shards {
		if _, dropped, rejected := o.Counts(); dropped != 0 || rejected != 0 {
			t.Errorf("of process %d %d were dropped and %d rejected", n, dropped, rejected)
		}
	}
}

// An outage of OpenSearch by SIGKILL while documents come, a restart of ours without a word in the middle of it, documents that it
// rejects, and its return: nothing is lost, nothing is there twice, and what waits on disk is bounded. The outage lasts seconds here.
func goesAndComesBack(t *testing.T, s *realSearch) {
	folder := t.TempDir()
	const spool = 4 << 20
	o := opensearch(t, s.url, folder, spool)
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.Run(running) }()
	count := 0
	add := func(n int) {
		for range n {
			o.Add(document(count))
			count++
			if count%100 == 0 {
				<-time.After(10 * time.Millisecond)
			}
		}
	}
	add(3000)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(50 * time.Millisecond) {
		if sent, _, _ := o.Counts(); sent > 0 {
			break
		}
	}
	s.kill()
	add(3000)
	stop() // ours ends in the outage: what it could not send stays
	if err := <-ended; err == nil {
		t.Error("it ended well, and OpenSearch was gone")
	}
	sent, _, _ := o.Counts()
	if sent == 0 || sent >= 6000 {
		t.Errorf("%d documents of 6000 were sent before the outage: it came too early or too late", sent)
	}
	o = opensearch(t, s.url, folder, spool)
	running, stop = context.WithCancel(t.Context())
	defer stop()
	go func() { ended <- o.Run(running) }()
	add(3000)
	o.Add(watch.Document{At: time.Now(), Fields: map[string]any{"n": "a text where there are numbers"}})
	for range 60_000 { // more than the spool holds
		o.Add(document(count))
		count++
	}
	_, dropped, _ := o.Counts()
	if dropped == 0 || o.spool.size > spool {
		t.Errorf("%d were dropped, %d bytes wait", dropped, o.spool.size)
	}
	s.start()
	want := count - int(dropped)
	have := func() int { return documentsIn(t, o) }
	counted := func() bool { // OpenSearch shows a bulk's documents before its answer is read here
		_, _, rejected := o.Counts()
		return rejected > 0
	}
	for end := time.Now().Add(2 * time.Minute); (have() < want || !counted()) && time.Now().Before(end); {
		<-time.After(200 * time.Millisecond)
	}
	if got := have(); got != want {
		t.Errorf("%d documents are there, want %d: %d were added, %d dropped by a full spool", got, want, count, dropped)
	}
	var answer struct {
		Aggregations struct{ Different struct{ Value int } }
	}
	query := `{"size":0,"aggs":{"different":{"cardinality":{"field":"n","precision_threshold":40000}}},"query":{"range":{"n":{"lt":9000}}}}`
	if err := o.ask(t.Context(), http.MethodPost, "/plimsoll-watch/_search", "application/json", []byte(query), &answer); err != nil || answer.Aggregations.Different.Value < 8950 {
		t.Errorf("%d different of the first 9000, %v", answer.Aggregations.Different.Value, err) // a count of hashes: not to the last
	}
	if _, _, rejected := o.Counts(); rejected != 1 {
		t.Errorf("%d rejected, want 1", rejected)
	}
	if aside, err := os.ReadFile(filepath.Join(folder, rejectedFile)); err != nil || !strings.Contains(string(aside), "a text where there are numbers") {
		t.Errorf("put aside: %s, %v", aside, err)
	}
	var stream struct {
		DataStreams []struct {
			Name     string
			Template string
		} `json:"data_streams"`
	}
	if err := o.ask(t.Context(), http.MethodGet, "/_data_stream/plimsoll-watch", "application/json", nil, &stream); err != nil || len(stream.DataStreams) != 1 || stream.DataStreams[0].Template != "plimsoll-watch" {
		t.Errorf("the data stream: %+v, %v", stream, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// BenchmarkDocuments spools documents and sends them to a real OpenSearch on the same machine, until it has them all.
func BenchmarkDocuments(b *testing.B) {
	s := newRealSearch(b)
	o := opensearch(b, s.url, b.TempDir(), 1<<30)
	if err := o.Flush(b.Context()); err != nil { // the template is made
		b.Fatal(err)
	}
	count := 0
	for b.Loop() {
		for range documentsAtOnce {
			o.Add(document(count))
			count++
		}
		if err := o.Flush(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if sent, dropped, rejected := o.Counts(); sent != uint64(count) || dropped+rejected != 0 {
		b.Errorf("%d documents were sent, %d dropped, %d rejected, of %d", sent, dropped, rejected, count)
	}
	b.ReportMetric(float64(count)/b.Elapsed().Seconds(), "documents/s")
}

const documentsAtOnce = 100_000
