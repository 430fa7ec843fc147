package trialcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/seriescmd"
	"plimsoll/hint"
	"plimsoll/result"

	"github.com/spf13/cobra"

	"plimsoll/report"
	"plimsoll/series/foreign"
)

// The reports of a result folder.
const (
	reportPage     = "report.html"
	reportMarkdown = "report.md"
)

type reportOptions struct {
	besideOptions
	plot, json bool
}

func newReport(c console.Streams) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		ValidArgsFunction: home.CompleteResults,
		Use:               "report DIR",
		Short:             "Write a result's reports again, or plot its curves",
		Long: `Write report.html and report.md from the other files of a result folder, or draw its curves in the terminal.

--beside shows the measurements of another tool from the same time on the same clock: an imported series, another result's folder, a k6
output file or an HdrHistogram log.`,
		Example: `  plimsoll trial report results/binlog-cost/2026-01-31T12-00-00
  plimsoll trial report results/binlog-cost/2026-01-31T12-00-00 --plot
  plimsoll trial report results/restart-felt/2026-01-31T12-00-00 --beside k6=run.csv.gz --offset 1.5s`,
		Args: console.Exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.plot && o.json {
				return console.UsageError{Text: "--plot and --json exclude each other", Hint: cmd.CommandPath() + " --help"}
			}
			return reportTrial(cmd.Context(), c, args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.plot, "plot", false, "draw the curves in the terminal instead")
	f.BoolVar(&o.json, "json", false, "print the files written and the series beside it, phase by phase, as JSON")
	o.add(cmd)
	return cmd
}

func reportTrial(ctx context.Context, c console.Streams, dir string, o reportOptions) error {
	result, err := home.OpenResult(dir)
	if err != nil {
		return err
	}
	home.TellFate(ctx, result)
	beside, err := o.open(ctx, c, result)
	if err != nil {
		return err
	}
	if o.plot {
		return report.Plot(c.Out, result, c.Paper(), beside...)
	}
	if err := report.Write(result.Dir, result, beside...); err != nil {
		return err
	}
	files := []string{filepath.Join(result.Dir, reportPage), filepath.Join(result.Dir, reportMarkdown)}
	if o.json {
		return console.PrintJSON(c, struct {
			Reports []string        `json:"reports"`
			Beside  []report.Beside `json:"beside"`
		}{files, report.LaidBeside(result, beside...)})
	}
	for _, file := range files {
		fmt.Fprintln(c.Out, file)
	}
	return nil
}

// besideOptions are which series to lay beside a result, and how their clocks differ from its own.
type besideOptions struct {
	paths, offsets []string
	basis, unit    string
}

func (o *besideOptions) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.paths, "beside", nil, "show a series beside it: an imported series, a result's folder or a file, or NAME=one of these; up to 5")
	f.StringArrayVar(&o.offsets, "offset", nil, "offset of a series' times: 1.5s, -1h, or start, which aligns it with the start of the load; one for all or one for each")
	f.StringVar(&o.basis, "basis", "", "basis of times in files: service or response (default service for k6, response for a log)")
	f.StringVar(&o.unit, "unit", "ns", "unit of values in logs: ns, us or ms")
}

func (o *besideOptions) open(ctx context.Context, c console.Streams, result *result.Result) ([]foreign.Recording, error) {
	if len(o.paths) > report.MaxBeside {
		return nil, console.UsageError{Text: fmt.Sprintf("%d series beside it, expected at most %d", len(o.paths), report.MaxBeside)}
	}
	if n := len(o.offsets); n > 1 && n != len(o.paths) {
		return nil, console.UsageError{Text: fmt.Sprintf("%d offsets for %d series, expected one for all or one for each", n, len(o.paths))}
	}
	basis, err := seriescmd.BasisOf(o.basis)
	if err != nil {
		return nil, err
	}
	unit, err := seriescmd.UnitOf(o.unit)
	if err != nil {
		return nil, err
	}
	var all []foreign.Recording
	for i, path := range o.paths {
		name, rest, named := strings.Cut(path, "=")
		if named {
			path = rest
		} else {
			name = ""
		}
		at, err := o.place(i, result)
		if err != nil {
			return nil, err
		}
		progress := console.NewProgress(c, "read "+filepath.Base(path))
		rec, err := foreign.Open(ctx, path, at, foreign.Options{Basis: basis, Unit: unit, Progress: progress.Bytes})
		progress.Close()
		if err != nil {
			return nil, hint.Missing(err, "--beside takes the path of an imported series, of a result's folder (plimsoll trial list) or of a file of k6 or HdrHistogram")
		}
		all = append(all, rec.Named(name))
	}
	return all, nil
}

// place is where series i goes.
func (o *besideOptions) place(i int, result *result.Result) (foreign.Beside, error) {
	var at foreign.Beside
	at.From, at.To = report.Span(result)
	if len(o.offsets) == 0 {
		return at, nil
	}
	text := o.offsets[min(i, len(o.offsets)-1)]
	if text == "start" {
		at.Align = true
		return at, nil
	}
	var err error
	if at.Offset, err = time.ParseDuration(text); err != nil {
		return at, console.UsageError{Text: fmt.Sprintf("--offset %s, expected a time such as 1.5s or -1h, or start", text)}
	}
	return at, nil
}
