package series

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// LatencyLog writes latency.hlog: the HdrHistogram log format 1.3 with V2 compressed histograms, which HdrHistogram's own
// tools open. It is not safe for concurrent use.
type LatencyLog struct {
	w     io.Writer
	codec *encoder
	line  []byte
}

// NewLatencyLog begins a log of what started at a moment. Intervals stand in it by their absolute times.
func NewLatencyLog(w io.Writer, started time.Time) (*LatencyLog, error) {
	_, err := fmt.Fprintf(w, "#[Histogram log format version 1.3]\n#[StartTime: %s (seconds since epoch), %s]\n%s\n",
		epochSeconds(started), started.UTC().Format(time.RFC3339),
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	if err != nil {
		return nil, fmt.Errorf("begin latency log: %w", err)
	}
	return &LatencyLog{w: w, codec: newEncoder()}, nil
}

// Write appends the durations of one interval under a tag, which Tag makes. An empty snapshot is an interval in which
// nothing was counted.
func (l *LatencyLog) Write(tag string, start time.Time, length time.Duration, s Snapshot) error {
	l.line = l.line[:0]
	if tag != "" {
		if strings.ContainsAny(tag, ", \t\r\n") {
			return fmt.Errorf("write latency log: tag %q holds a comma or a blank", tag)
		}
		l.line = append(append(append(l.line, "Tag="...), tag...), ',')
	}
	l.line = fmt.Appendf(l.line, "%s,%.3f,%.3f,", epochSeconds(start), length.Seconds(), float64(s.Max())/float64(time.Millisecond))
	l.line = append(l.codec.encode(l.line, s), '\n')
	if _, err := l.w.Write(l.line); err != nil {
		return fmt.Errorf("write latency log: %w", err)
	}
	return nil
}

// epochSeconds is exact: as a float a moment of this century has lost its milliseconds' last digits.
func epochSeconds(t time.Time) string {
	ms := t.UnixMilli()
	return fmt.Sprintf("%d.%03d", ms/1000, ms%1000)
}

// Tag joins names, for example cell, phase and operation, to a tag of a latency log. TagParts takes it apart.
func Tag(parts ...string) string {
	escaped := make([]string, len(parts))
	for i, p := range parts {
		escaped[i] = url.PathEscape(p)
	}
	return strings.Join(escaped, "/")
}

// TagParts returns the names that a tag was made of; a tag that Tag did not make is one name.
func TagParts(tag string) []string {
	parts := strings.Split(tag, "/")
	for i, p := range parts {
		name, err := url.PathUnescape(p)
		if err != nil {
			return []string{tag}
		}
		parts[i] = name
	}
	return parts
}
