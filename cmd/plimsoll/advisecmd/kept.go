package advisecmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"plimsoll/advise"
	"plimsoll/lab"
)

// adviceFile is where what was advised last about a cluster is kept.
func adviceFile(deps lab.Deps, cluster string) string {
	return filepath.Join(deps.Home, "advice", url.PathEscape(cluster)+".json")
}

// keepAdvice keeps a report for the page, in place of the one before.
func keepAdvice(deps lab.Deps, r *advise.Report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep the advice: %w", err)
	}
	file := adviceFile(deps, r.Cluster)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep the advice: %w", err)
	}
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return fmt.Errorf("keep the advice: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("keep the advice: %w", err)
	}
	return nil
}

// LatestAdvice is what was advised last about a cluster; nil: nothing.
func LatestAdvice(deps lab.Deps, cluster string) (*advise.Report, error) {
	data, err := os.ReadFile(adviceFile(deps, cluster))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var r advise.Report
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return nil, fmt.Errorf("read the advice for %s: %w", cluster, err)
	}
	return &r, nil
}
