package sink

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plimsoll/engine"
	"plimsoll/watch"
)

// OpenSearchConfig says where documents go.
type OpenSearchConfig struct {
	URL      string
	User     string
	Password engine.Secret
	Stream   string        // of data
	Keep     time.Duration // documents are deleted after it
	Folder   string        // of the spool
	Spool    int64         // bytes
	Log      *slog.Logger
}

// OpenSearch writes documents into a data stream. What cannot be written waits on disk, and is written later, once.
type OpenSearch struct {
	cfg   OpenSearchConfig
	spool *spool

	managed  bool      // the server has policies
	attached time.Time // when the policy was attached to the stream's indices last

	mu       sync.Mutex
	ready    bool // the template is there
	full     bool // that it is was said
	rejected uint64
	sent     uint64
}

// NewOpenSearch opens the spool. Nothing is sent before Run.
func NewOpenSearch(cfg OpenSearchConfig) (*OpenSearch, error) {
	s, err := openSpool(cfg.Folder, cfg.Spool)
	if err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.URL = strings.TrimSuffix(cfg.URL, "/")
	return &OpenSearch{cfg: cfg, spool: s}, nil
}

// Add takes a document; it waits for nothing but the disk.
func (o *OpenSearch) Add(d watch.Document) {
	err := o.spool.add(d)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil && (!errors.Is(err, errFull) || !o.full) {
		o.cfg.Log.Error("spool a document for OpenSearch", "error", err)
	}
	o.full = errors.Is(err, errFull)
}

// Counts are documents since the start: written, dropped because the spool was full, and rejected by OpenSearch for what they hold.
func (o *OpenSearch) Counts() (sent, dropped, rejected uint64) {
	o.spool.mu.Lock()
	dropped = o.spool.dropped
	o.spool.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent, dropped, o.rejected
}

// Run sends until ctx ends, then tries once more.
func (o *OpenSearch) Run(ctx context.Context) error {
	everySecond(ctx, o.Flush, func(err error) {
		o.cfg.Log.Warn("OpenSearch accepts no documents: they are stored on disk", "error", err)
	})
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	return errors.Join(o.Flush(last), o.spool.close())
}

// Flush sends all that waits, the oldest first.
func (o *OpenSearch) Flush(ctx context.Context) error {
	if !o.ready {
		if err := o.prepare(ctx); err != nil {
			return err
		}
		o.ready = true
	}
	files, err := o.spool.waiting()
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := o.send(ctx, file); err != nil {
			return err
		}
	}
	o.attach(ctx)
	return nil
}

// send writes a file's documents, and keeps of it what was not taken.
func (o *OpenSearch) send(ctx context.Context, file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the spool: %w", err)
	}
	whole := data
	if end := bytes.LastIndexByte(data, '\n'); end < len(data)-1 {
		whole = data[:end+1] // a crash left the last line unfinished
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)/2*2] // an action without its document is no use
	if len(lines) == 0 {
		return o.spool.keep(file, nil, len(data))
	}
	var answer struct {
		Errors bool `json:"errors"`
		Items  []map[string]struct {
			Status int             `json:"status"`
			Error  json.RawMessage `json:"error"`
		} `json:"items"`
	}
	if err := o.ask(ctx, http.MethodPost, "/"+o.cfg.Stream+"/_bulk", "application/x-ndjson", bytes.Join(lines, nil), &answer); err != nil {
		return err
	}
	if len(answer.Items) != len(lines)/2 {
		return fmt.Errorf("OpenSearch answered for %d of %d documents", len(answer.Items), len(lines)/2)
	}
	var left, rejected []byte
	taken := 0
	for n, item := range answer.Items {
		status := item["create"].Status
		switch {
		case status/100 == 2, status == http.StatusConflict: // it was written before
			taken++
		case status == http.StatusTooManyRequests, status/100 == 5:
			left = append(append(left, lines[2*n]...), lines[2*n+1]...)
		default:
			rejected = append(append(rejected, lines[2*n+1][:len(lines[2*n+1])-1]...), fmt.Sprintf("\t%d %s\n", status, item["create"].Error)...)
		}
	}
	if err := o.reject(rejected); err != nil {
		return err
	}
	o.mu.Lock()
	o.sent += uint64(taken)
	o.mu.Unlock()
	if err := o.spool.keep(file, left, len(data)); err != nil {
		return err
	}
	if len(left) > 0 {
		return errors.New("OpenSearch is too busy for some documents")
	}
	return nil
}

// mostRejected bytes are kept to be looked at.
const mostRejected = 16 << 20

// reject puts aside what OpenSearch will never take, such as a text where the stream has a number: it must not hold up the rest.
func (o *OpenSearch) reject(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	o.mu.Lock()
	o.rejected += uint64(bytes.Count(lines, []byte("\n")))
	o.mu.Unlock()
	name := filepath.Join(o.cfg.Folder, rejectedFile)
	o.cfg.Log.Error("OpenSearch rejected documents: they are stored separately", "file", name)
	if about, err := os.Stat(name); err == nil && about.Size() > mostRejected {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("store rejected documents: %w", err)
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Close())
}

// prepare makes the template of the data stream, and the policy that deletes what is old where the server has such policies.
func (o *OpenSearch) prepare(ctx context.Context) error {
	template := map[string]any{
		"index_patterns": []string{o.cfg.Stream}, "data_stream": map[string]any{}, "priority": 200,
		"template": map[string]any{
			"settings": map[string]any{"number_of_shards": 1},
			"mappings": map[string]any{
				"properties": map[string]any{"@timestamp": map[string]string{"type": "date"}},
				"dynamic_templates": []any{
					map[string]any{"texts": map[string]any{"match_mapping_type": "string", "mapping": map[string]any{"type": "keyword", "ignore_above": 8191}}},
					map[string]any{"fractions": map[string]any{"match_mapping_type": "double", "mapping": map[string]any{"type": "double"}}},
					map[string]any{"whole": map[string]any{"match_mapping_type": "long", "mapping": map[string]any{"type": "double"}}},
				},
			},
		},
	}
	if err := o.put(ctx, "/_index_template/"+o.cfg.Stream, template); err != nil {
		return fmt.Errorf("make the template of the data stream: %w", err)
	}
	var status statusError
	o.managed = true
	if err := o.put(ctx, "/_plugins/_ism/policies/"+o.cfg.Stream, policyOf(o.cfg.Stream, o.cfg.Keep)); errors.As(err, &status) && status.code == http.StatusConflict {
		return nil // it is there, and may have been changed by a person
	} else if errors.As(err, &status) {
		o.cfg.Log.Warn("OpenSearch accepts no policy: delete old documents by other means", "status", status.code)
		o.managed = false
		return nil
	} else if err != nil {
		return err
	}
	return nil
}

// attachEvery is how often the policy is attached to the indices of the stream that have none.
const attachEvery = time.Hour

// attach attaches the policy to the indices of the stream. OpenSearch does not always do so itself where a template made the stream, neither
// for its first index, which is there only once a document was written, nor for one that a rollover made. An index that has a policy keeps it.
func (o *OpenSearch) attach(ctx context.Context) {
	if sent, _, _ := o.Counts(); !o.managed || sent == 0 || time.Since(o.attached) < attachEvery {
		return
	}
	body, err := json.Marshal(map[string]string{"policy_id": o.cfg.Stream})
	if err == nil {
		err = o.ask(ctx, http.MethodPost, "/_plugins/_ism/add/"+o.cfg.Stream, "application/json", body, nil)
	}
	if err != nil {
		o.cfg.Log.Warn("attach the policy to the indices in OpenSearch: it is tried again in an hour", "error", err)
	}
	o.attached = time.Now()
}

func (o *OpenSearch) put(ctx context.Context, path string, body any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return o.ask(ctx, http.MethodPut, path, "application/json", data, nil)
}

// statusError is a refusal.
type statusError struct {
	code int
	text string
}

func (s statusError) Error() string { return fmt.Sprintf("OpenSearch answered %d: %s", s.code, s.text) }

// patient waits for an index to be made, which takes its time where there are many.
var patient = &http.Client{Timeout: time.Minute}

func (o *OpenSearch) ask(ctx context.Context, method, path, kind string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, o.cfg.URL+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	if o.cfg.User != "" {
		r.SetBasicAuth(o.cfg.User, string(o.cfg.Password))
	}
	answer, err := patient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(answer.Body, 256<<20))
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return statusError{answer.StatusCode, string(data[:min(len(data), 300)])}
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}
