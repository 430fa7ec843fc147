package series

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"
)

// column is one column of a CSV file of Ts: its name, and a pointer to where a T keeps it.
type column[T any] struct {
	name  string
	field func(*T) any
}

// Durations stand in files as decimal numbers of these units.
type (
	milliseconds time.Duration
	seconds      time.Duration
)

// timeFormat has a fixed width, as some readers of CSV need.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// tableWriter writes a CSV file with a header.
type tableWriter[T any] struct {
	columns []column[T]
	csv     *csv.Writer
	record  []string
}

func newTableWriter[T any](w io.Writer, columns []column[T]) (*tableWriter[T], error) {
	t := &tableWriter[T]{columns: columns, csv: csv.NewWriter(w), record: make([]string, len(columns))}
	for i, c := range columns {
		t.record[i] = c.name
	}
	return t, t.csv.WriteAll([][]string{t.record})
}

func (t *tableWriter[T]) write(items []T) error {
	for i := range items {
		for j, c := range t.columns {
			t.record[j] = format(c.field(&items[i]))
		}
		if err := t.csv.Write(t.record); err != nil {
			return err
		}
	}
	t.csv.Flush()
	return t.csv.Error()
}

// readTable yields the lines of a CSV file. Columns are found by the header's names; further ones are ignored.
func readTable[T any](r io.Reader, name string, columns []column[T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fail := func(err error) {
			var none T
			yield(none, fmt.Errorf("read %s: %w", name, err))
		}
		in := csv.NewReader(newWholeLines(r))
		in.ReuseRecord = true
		header, err := in.Read()
		if err != nil {
			fail(fmt.Errorf("header: %w", err))
			return
		}
		at, err := positions(header, columns)
		if err != nil {
			fail(err)
			return
		}
		for {
			record, err := in.Read()
			if err == io.EOF {
				return
			}
			if err != nil {
				fail(err) // names the line
				return
			}
			var item T
			for i, c := range columns {
				if err := parse(record[at[i]], c.field(&item)); err != nil {
					line, _ := in.FieldPos(at[i])
					fail(fmt.Errorf("line %d: %s: %w", line, c.name, err))
					return
				}
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

func positions[T any](header []string, columns []column[T]) ([]int, error) {
	index := make(map[string]int, len(header))
	for i, name := range header {
		index[name] = i
	}
	at := make([]int, len(columns))
	for i, c := range columns {
		var ok bool
		if at[i], ok = index[c.name]; !ok {
			return nil, fmt.Errorf("there is no column %s", c.name)
		}
	}
	return at, nil
}

func format(field any) string {
	switch v := field.(type) {
	case *string:
		return *v
	case *int:
		return strconv.Itoa(*v)
	case *int64:
		return strconv.FormatInt(*v, 10)
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *time.Time:
		return v.UTC().Format(timeFormat)
	case *milliseconds:
		return formatDecimal(time.Duration(*v), time.Millisecond)
	case *seconds:
		return formatDecimal(time.Duration(*v), time.Second)
	}
	panic(fmt.Sprintf("series: a column of type %T", field))
}

func parse(text string, field any) (err error) {
	switch v := field.(type) {
	case *string:
		*v = text
	case *int:
		*v, err = strconv.Atoi(text)
	case *int64:
		*v, err = strconv.ParseInt(text, 10, 64)
	case *float64:
		*v, err = strconv.ParseFloat(text, 64)
	case *time.Time:
		*v, err = time.Parse(time.RFC3339Nano, text)
	case *milliseconds:
		err = parseDecimal(text, time.Millisecond, (*time.Duration)(v))
	case *seconds:
		err = parseDecimal(text, time.Second, (*time.Duration)(v))
	default:
		panic(fmt.Sprintf("series: a column of type %T", field))
	}
	return err
}
