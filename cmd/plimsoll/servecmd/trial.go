package servecmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/catalog"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/cmd/plimsoll/home"
	"plimsoll/cmd/plimsoll/trialcmd"
	"plimsoll/durable"
	"plimsoll/hint"
	"plimsoll/report"
	"plimsoll/result"
	"plimsoll/trial/judge"
	updates "plimsoll/trial/progress"
	"plimsoll/trial/run"
	"plimsoll/trial/spec"
	"plimsoll/web"
)

// servedTrials is what the page does with trials: those of the folder that it was begun in.
func servedTrials(c console.Streams) web.Trials {
	return web.Trials{
		Folder: home.NewResultsFolder(), Compare: judge.CompareResults, Files: trialFiles,
		Fates: func(ctx context.Context, all []result.Listed) { home.TellFates(ctx, all) }, Fate: home.TellFate,
		Run: func(ctx context.Context, file string, quick bool, watch updates.Observer) (string, error) {
			return runServedTrial(ctx, c, file, quick, watch)
		},
	}
}

// Where trials are looked for.
const (
	deepest   = 4
	mostFiles = 100
)

// trialFiles lists the files named trial.yaml below the working folder, results and exports left out.
func trialFiles() []string {
	var all []string
	_ = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d != nil && d.IsDir():
			return filepath.SkipDir // what may not be looked into holds none
		case err != nil:
			return nil //nolint:nilerr // what cannot be looked at is no trial
		case d.IsDir() && (path == "results" || path != "." && strings.HasPrefix(d.Name(), ".") || strings.Count(path, string(filepath.Separator)) >= deepest):
			return filepath.SkipDir
		case len(all) >= mostFiles:
			return filepath.SkipAll
		case !d.IsDir() && d.Name() == result.SpecFile && !result.Is(filepath.Dir(path)):
			all = append(all, path)
		}
		return nil
	})
	slices.Sort(all)
	return all
}

// runServedTrial is trial run for somebody at the page.
func runServedTrial(ctx context.Context, c console.Streams, file string, quick bool, watch updates.Observer) (dir string, err error) {
	t, err := trialcmd.Read(file, spec.Options{Quick: quick})
	if err != nil {
		return "", err
	}
	if name := t.Production(); name != "" {
		return "", hint.With(errors.New(name+" is in production, and the web page does not put load on production"), "plimsoll trial run "+file)
	}
	deps, err := home.LabDeps()
	if err != nil {
		return "", err
	}
	var state *durable.Store
	if t.NeedsState() {
		if state, err = home.OpenState(ctx, deps); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, state.Close()) }()
	}
	result, runErr := run.Run(ctx, t, catalog.Parts(), run.Options{
		Lab: deps, Dir: filepath.Join(home.NewResultsFolder(), home.SafeName(t.Name), time.Now().Format("2006-01-02T15-04-05")),
		Observer: watch, Log: console.NewLog(c), Version: home.Version(), Command: os.Args, State: state,
	})
	if result == nil {
		return "", runErr
	}
	return result.Dir, errors.Join(report.Write(result.Dir, result), runErr)
}
