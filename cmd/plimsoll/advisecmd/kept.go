package advisecmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/advise"
	"plimsoll/lab"
)

// adviceFolder is where what was advised last about a cluster is kept: of each node the newest report, and the newest about each thing.
func adviceFolder(deps lab.Deps, cluster string) string {
	return filepath.Join(deps.Home, "advice", url.PathEscape(cluster)+".kept")
}

// newest is the file of a node's newest report of a look at the server, whatever it came to.
const newest = "newest"

// keepAdvice keeps a report for the page. What it could not observe stays as it was advised before.
func keepAdvice(deps lab.Deps, r *advise.Report) error {
	return errors.Join(keepAs(deps, r, newest), keepObserved(deps, r))
}

// keepObserved keeps a report from the history, which is no newer look at the server.
func keepObserved(deps lab.Deps, r *advise.Report) error {
	for _, about := range r.Observed {
		if about == "memory" {
			about = depthOf(r).file(about)
		}
		if err := keepAs(deps, r, about); err != nil {
			return err
		}
	}
	return nil
}

func keepAs(deps lab.Deps, r *advise.Report, about string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the advice: %w", err)
		}
	}()
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	folder := adviceFolder(deps, r.Cluster)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file := filepath.Join(folder, about+"@"+url.PathEscape(r.Node)+".json")
	if err := os.WriteFile(file+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// depth is what a look at the memory looked at beside it.
type depth struct{ statements, classes bool }

func depthOf(r *advise.Report) depth {
	return depth{r.Statements != nil, slices.ContainsFunc(r.Findings, func(f advise.Finding) bool {
		return f.About == "memory" && slices.ContainsFunc(f.Options, func(o advise.Option) bool { return o.Class != "" })
	})}
}

// holds tells whether a look saw what another one did.
func (d depth) holds(other depth) bool {
	return (d.statements || !other.statements) && (d.classes || !other.classes)
}

// file is what the newest report of its depth is called.
func (d depth) file(about string) string {
	if d.statements {
		about += "+statements"
	}
	if d.classes {
		about += "+classes"
	}
	return about
}

// LatestAdvice is what was advised last about a cluster, the newest report first. Of an older one only those findings are left about which there is
// nothing newer that looked at as much.
func LatestAdvice(deps lab.Deps, cluster string) ([]*advise.Report, error) {
	reports, err := keptReports(adviceFolder(deps, cluster))
	if err != nil {
		return nil, fmt.Errorf("read the advice for %s: %w", cluster, err)
	}
	var latest []*advise.Report
	seen, known := map[string]bool{}, map[string][]depth{}
	for _, r := range reports {
		looked := depthOf(r)
		if first := !seen[r.Node]; !first {
			r.Findings = slices.DeleteFunc(r.Findings, func(f advise.Finding) bool {
				return slices.ContainsFunc(known[f.About+"@"+r.Node], func(newer depth) bool { return f.About != "memory" || newer.holds(looked) })
			})
			if len(r.Findings) == 0 {
				continue
			}
		}
		seen[r.Node] = true
		for _, about := range r.Observed {
			known[about+"@"+r.Node] = append(known[about+"@"+r.Node], looked)
		}
		r.Score = ""
		latest = append(latest, r)
	}
	if len(latest) == 0 {
		return nil, nil
	}
	return latest, scored(deps, latest[0]) // as it is now, after a check
}

// keptReports are those in a folder, the newest first, each once. There is no folder: none.
func keptReports(folder string) (all []*advise.Report, err error) {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".json") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			return nil, err
		}
		var r advise.Report
		if err := json.Unmarshal(data, &r); err != nil {
			return nil, err
		}
		all = append(all, &r)
	}
	slices.SortStableFunc(all, func(a, b *advise.Report) int { return b.At.Compare(a.At) })
	return slices.CompactFunc(all, func(a, b *advise.Report) bool { return a.At.Equal(b.At) && a.Node == b.Node }), err
}
