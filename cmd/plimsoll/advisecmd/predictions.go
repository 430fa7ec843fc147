package advisecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"net/url"

	"plimsoll/advise"
	"plimsoll/lab"
)

// What was predicted about a cluster, and what came of it, are lists of JSON, the oldest first.
func predictionsFile(deps lab.Deps, cluster string) string {
	return filepath.Join(deps.Home, "advice", url.PathEscape(cluster)+".predictions.jsonl")
}

func scoresFile(deps lab.Deps, cluster string) string {
	return filepath.Join(deps.Home, "advice", url.PathEscape(cluster)+".scores.jsonl")
}

// keepPrediction keeps a report with what can be checked afterwards.
func keepPrediction(deps lab.Deps, r *advise.Report) error {
	kept := *r
	kept.Memory, kept.Statements = nil, nil // curves, tables and texts are not checked
	return appendLine(predictionsFile(deps, r.Cluster), kept)
}

// scored puts the scoreboard of a cluster into a report.
func scored(deps lab.Deps, r *advise.Report) error {
	all, err := readLines[advise.Score](scoresFile(deps, r.Cluster))
	r.Score = advise.Scoreboard(all)
	return err
}

func appendLine(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep a prediction: %w", err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep a prediction: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// readLines reads a list; none is there: an empty one. A last line that was cut off is left out.
func readLines[T any](file string) (all []T, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read predictions: %w", err)
	}
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, v)
	}
	return all, nil
}
