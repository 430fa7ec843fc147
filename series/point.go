package series

import (
	"fmt"
	"io"
	"iter"
)

// PointWriter writes signals.csv: one value of one signal a line. It is not safe for concurrent use.
type PointWriter struct{ table *tableWriter[Point] }

// NewPointWriter begins the file with its header.
func NewPointWriter(w io.Writer) (*PointWriter, error) {
	table, err := newTableWriter(w, pointColumns())
	if err != nil {
		return nil, fmt.Errorf("begin signals: %w", err)
	}
	return &PointWriter{table}, nil
}

// Write appends points, usually those of one reading.
func (w *PointWriter) Write(points ...Point) error {
	if err := w.table.write(points); err != nil {
		return fmt.Errorf("write signals: %w", err)
	}
	return nil
}

// ReadPoints yields the points of signals.csv. After an error there is nothing more.
func ReadPoints(r io.Reader) iter.Seq2[Point, error] {
	return readTable(r, "signals", pointColumns())
}

func pointColumns() []column[Point] {
	return []column[Point]{
		{"time", func(p *Point) any { return &p.Time }},
		{"signal", func(p *Point) any { return &p.Signal }},
		{"node", func(p *Point) any { return &p.Node }},
		{"value", func(p *Point) any { return &p.Value }},
	}
}
