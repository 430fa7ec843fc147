package seriescmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/series/foreign"
)

type importOptions struct {
	foreign.Options
	out, basis, unit string
	json             bool
}

func newImport(c console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Store another tool's measurements as a series",
		Long:  "Store the measurements of another load tool in a folder of Plimsoll's format: series.csv, latency.hlog, and import.json, which names their source.",
	}
	cmd.AddCommand(newImportK6(c), newImportHdr(c))
	console.RefuseUnknown(cmd)
	return cmd
}

func newImportK6(c console.Streams) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "k6 FILE",
		Short: "Store the output of k6 run --out csv",
		Long: `Store the output of k6 run --out csv=FILE, gzipped or not, with timestamps in any of its formats. Each value of http_req_duration
is one finished operation. k6 counts from the moment it sends a request, so these are service times. Requests with a response that k6
did not expect count as errors.`,
		Example: `  plimsoll series import k6 run.csv
  plimsoll series import k6 run.csv.gz --by scenario --out series/checkout`,
		Args: console.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importSeries(cmd.Context(), c, foreign.K6, args[0], o)
		},
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.By, "by", "name", "the column that distinguishes operations: name, scenario, method, group, …")
	cmd.Flags().StringVar(&o.Metric, "metric", "http_req_duration", "the metric whose values are durations in milliseconds")
	return cmd
}

func newImportHdr(c console.Streams) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "hdr FILE",
		Short: "Store an HdrHistogram log",
		Long: `Store an HdrHistogram interval log, format 1.2 or 1.3, gzipped or not. Each tag is an operation. Such a log states neither the unit
of its values nor from which moment they count, so give both: --unit, --basis.`,
		Example: `  plimsoll series import hdr latency.hlog --unit us
  plimsoll series import hdr latency.hlog --tag read --tag write --basis service`,
		Args: console.Exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importSeries(cmd.Context(), c, foreign.Hdr, args[0], o)
		},
	}
	o.add(cmd)
	cmd.Flags().StringVar(&o.unit, "unit", "ns", "unit of the log's values: ns, us or ms")
	cmd.Flags().StringSliceVar(&o.Tags, "tag", nil, "read these tags only (default all)")
	return cmd
}

func (o *importOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "the folder to write (default series/NAME, by the file's name)")
	f.StringVar(&o.basis, "basis", "", "what the times count from: service (the actual start of an operation) or response (the intended start) (default service for k6, response for a log)")
	f.BoolVar(&o.json, "json", false, "print JSON")
}

// BasisOf reads --basis.
func BasisOf(text string) (foreign.Basis, error) {
	switch b := foreign.Basis(text); b {
	case "", foreign.Service, foreign.Response:
		return b, nil
	}
	return "", console.UsageError{Text: fmt.Sprintf("--basis %s, expected service or response", text)}
}

// UnitOf reads --unit; 0 where it is not given.
func UnitOf(text string) (time.Duration, error) {
	unit, known := map[string]time.Duration{"": 0, "ns": time.Nanosecond, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond}[text]
	if !known {
		return 0, console.UsageError{Text: fmt.Sprintf("--unit %s, expected ns, us or ms", text)}
	}
	return unit, nil
}

func importSeries(ctx context.Context, c console.Streams, read foreign.Reader, path string, o importOptions) (err error) {
	if o.Basis, err = BasisOf(o.basis); err != nil {
		return err
	}
	if o.Unit, err = UnitOf(o.unit); err != nil {
		return err
	}
	if o.out == "" {
		o.out = filepath.Join("series", foreign.NameOf(path))
	}
	progress := console.NewProgress(c, "import "+filepath.Base(path))
	o.Progress = progress.Bytes
	about, err := foreign.Import(ctx, o.out, read, path, o.Options)
	progress.Close()
	if err != nil {
		return err
	}
	if o.json {
		return console.PrintJSON(c, struct {
			Dir string `json:"dir"`
			foreign.About
		}{o.out, about})
	}
	fmt.Fprintln(c.Out, o.out)
	fmt.Fprintln(c.Err, describeSeries(about))
	for _, note := range about.Notes {
		fmt.Fprintln(c.Err, "note:", note)
	}
	return nil
}

// describeSeries is one sentence.
func describeSeries(a foreign.About) string {
	text := fmt.Sprintf("%d operations from %s to %s UTC, %s times", a.Done, a.From.UTC().Format("2006-01-02 15:04:05"), a.To.UTC().Format("15:04:05"), a.Basis)
	if a.Errors > 0 {
		classes := make([]string, 0, len(a.ErrorClasses))
		for _, class := range slices.Sorted(maps.Keys(a.ErrorClasses)) {
			classes = append(classes, fmt.Sprintf("%d %s", a.ErrorClasses[class], class))
		}
		text += fmt.Sprintf("; %d errors: %s", a.Errors, strings.Join(classes, ", "))
	}
	return text
}
