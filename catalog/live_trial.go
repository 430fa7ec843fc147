package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"plimsoll/cluster"
	"plimsoll/hint"
	"plimsoll/internal/document"
	"plimsoll/watch/collect"
	"plimsoll/watch/live"
	"plimsoll/watch/settings"
	"plimsoll/watch/store"
)

// liveOfTrial is Live with the queries of a trial and of the watch.yaml in the working folder.
func liveOfTrial(ctx context.Context, on *cluster.Cluster, queries []collect.Query) (*live.Reader, error) {
	all, err := withKept(queries)
	if err != nil {
		return nil, err
	}
	return Live(ctx, on, all)
}

// checkWatchedByTrial is CheckWatched of a trial, of which is known which queries are asked.
func checkWatchedByTrial(expression string, queries []collect.Query) error {
	if err := CheckWatched(expression); err != nil {
		return err
	}
	names, err := store.Named(expression)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, collect.OwnPrefix) {
			continue
		}
		all, err := withKept(queries)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, func(q collect.Query) bool { return q.Makes(name) }) {
			return unknownQuery(name, all)
		}
	}
	return nil
}

func unknownQuery(name string, all []collect.Query) error {
	err := fmt.Errorf("unknown series %q: no query produces it", name)
	var families []string
	for _, q := range all {
		families = append(families, q.Series()...)
	}
	if near := document.Nearest(name, families); near != "" {
		return hint.With(err, fmt.Sprintf("did you mean %q?", near))
	}
	if len(families) > 0 {
		return hint.With(err, "queries make "+strings.Join(families, ", "))
	}
	return hint.With(err, "define the SQL under queries: in the trial, or in watch.yaml of the working folder")
}

// withKept adds the queries of the watch.yaml in the working folder to those of a trial, which come before them.
func withKept(queries []collect.Query) ([]collect.Query, error) {
	set, err := settings.Read(settings.File)
	if err != nil {
		return nil, err
	}
	all := slices.Clone(queries)
	for _, q := range set.Queries {
		if !slices.ContainsFunc(queries, func(own collect.Query) bool { return own.Name == q.Name }) {
			all = append(all, q)
		}
	}
	return all, nil
}
