package advice

import (
	"fmt"
	"strings"

	"plimsoll/advise"
	"plimsoll/report/quantity"
)

// Caches writes what caches tell of themselves as text for a terminal of a width.
func Caches(r *advise.Caches, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Caches of %s, seen for %s\n\n", r.Cluster, quantity.Duration(r.Looked))
	b.WriteString(cacheTable(r).text())
	b.WriteByte('\n')
	for _, s := range r.Notes {
		b.WriteString(fold(s, width))
	}
	return b.String()
}

// CachesMarkdown writes it for a ticket.
func CachesMarkdown(r *advise.Caches) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Caches of %s\n\nSeen for %s from %s.\n\n%s\n", r.Cluster, quantity.Duration(r.Looked), r.At.UTC().Format("2006-01-02 15:04 MST"), cacheTable(r).markdown())
	for _, s := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	return b.String()
}

// OfCaches is the same as a report, without options: none can be predicted.
func OfCaches(r *advise.Caches) *advise.Report {
	f := advise.Finding{About: "memory", Title: "Caches of " + r.Cluster}
	for _, c := range r.Caches {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s, %s: holds %s of %s, and missed %s of %s requests; %s.", c.Node, c.Name, quantity.Bytes.Format(float64(c.Size)), quantity.Bytes.Format(float64(c.Capacity)),
			quantity.PerSecond.Format(c.Missed), quantity.PerSecond.Format(c.Requests), c.Means))
	}
	return &advise.Report{Cluster: r.Cluster, At: r.At, Findings: []advise.Finding{f}, Observed: []string{f.About}, Unknown: r.Notes}
}

func cacheTable(r *advise.Caches) *grid {
	g := newGrid("node", "cache", "setting", "holds", "of", "requests", "answered", "missed", "another size")
	for _, c := range r.Caches {
		answered := "–"
		if c.Requests > 0 {
			answered = quantity.Share.Format(c.HitRatio)
		}
		g.row(c.Node, c.Name, c.Setting, quantity.Bytes.Format(float64(c.Size)), quantity.Bytes.Format(float64(c.Capacity)),
			quantity.PerSecond.Format(c.Requests), answered, quantity.PerSecond.Format(c.Missed), c.Means)
	}
	return g
}
