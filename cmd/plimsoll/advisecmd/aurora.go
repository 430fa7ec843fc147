package advisecmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/advise/findings"
	"plimsoll/cluster"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/engine"
	"plimsoll/hint"
	"plimsoll/infra/aws"
)

// isAurora tells whether a node is a server of Aurora: by the inventory, by RDS, or by the server itself.
func isAurora(ctx context.Context, on *cluster.Cluster, node cluster.Node, runs running) (bool, error) {
	if on.AWS != nil && on.AWS.Aurora != "" || runs.aurora != "" {
		return true, nil
	}
	db, err := on.Database(ctx, node.Name)
	if err != nil {
		return false, err
	}
	facts, err := db.Facts(ctx)
	return facts.Product == "Aurora MySQL", err
}

// onAurora describes the Aurora cluster that a node belongs to, as far as the inventory, RDS and CloudWatch tell; nil: it belongs to none.
// An error says what AWS did not tell, beside what is known all the same.
func onAurora(ctx context.Context, on *cluster.Cluster, node cluster.Node, runs running, now time.Time) (*findings.Aurora, error) {
	is, err := isAurora(ctx, on, node, runs)
	if err != nil || !is {
		return nil, err
	}
	a := &findings.Aurora{Name: runs.aurora}
	defer func() {
		if a.GiB == 0 {
			a.GiB = dataGiB(ctx, on, node)
		}
	}()
	if runs.class != "" { // until RDS tells the class of each
		nodes, err := on.List(ctx)
		if err != nil {
			return a, err
		}
		a.Classes = slices.Repeat([]string{runs.class}, len(nodes))
	}
	if on.AWS == nil {
		return a, nil
	}
	if on.AWS.Aurora != "" {
		a.Name, a.Named = on.AWS.Aurora, true
	}
	if a.Name == "" {
		return a, nil
	}
	at := aws.Options{Region: on.AWS.Region, Profile: on.AWS.Profile}
	return a, unanswered(answer{"RDS", askConfiguration(ctx, a, at)}, answer{"CloudWatch", askBilled(ctx, a, at, now)})
}

// dataGiB is the size of the data by the server's own files; 0: it does not show it to this account.
func dataGiB(ctx context.Context, on *cluster.Cluster, node cluster.Node) float64 {
	db, err := on.Database(ctx, node.Name)
	if err != nil {
		return 0
	}
	files, ok := engine.As[engine.PageCaching](db)
	if !ok {
		return 0
	}
	spaces, err := files.DataSpaces(ctx)
	if err != nil {
		return 0 // the advice says that the size is unknown
	}
	var bytes int64
	for _, s := range spaces {
		bytes += s.Bytes
	}
	return float64(bytes) / (1 << 30)
}

// answer is what a service of AWS said, if it was an error.
type answer struct {
	of  string
	err error
}

// unanswered says in a sentence without its end which services did not answer, and why: by what can be done about it where that is known, and one
// reason of several services once.
func unanswered(all ...answer) error {
	of := map[string][]string{}
	var why []string
	for _, a := range all {
		if a.err == nil {
			continue
		}
		reason := strings.TrimSuffix(cmp.Or(hint.Of(a.err), strings.Join(strings.Fields(a.err.Error()), " ")), ".")
		if of[reason] == nil {
			why = append(why, reason)
		}
		of[reason] = append(of[reason], a.of)
	}
	for i, reason := range why {
		why[i] = strings.Join(of[reason], " and ") + " did not answer: " + reason
	}
	if len(why) == 0 {
		return nil
	}
	return errors.New(strings.Join(why, "; "))
}

func askConfiguration(ctx context.Context, a *findings.Aurora, at aws.Options) error {
	api, err := aws.OpenRDS(ctx, at)
	if err != nil {
		return err
	}
	c, err := api.Aurora(ctx, a.Name)
	if err != nil {
		return err
	}
	a.Configuration = findings.Standard
	if c.Storage == "aurora-iopt1" {
		a.Configuration = findings.IOOptimized
	}
	var classes []string
	for _, member := range c.Members {
		i, err := api.Instance(ctx, member)
		if err != nil {
			return err
		}
		classes = append(classes, i.Class)
	}
	a.Classes = classes
	return nil
}

// billedFor is how far back the requests of a cluster are looked at: the same hours of two weeks.
const billedFor = 14 * 24 * time.Hour

// CloudWatch counts a cluster's requests over five minutes.
const (
	billedReads  = "VolumeReadIOPs"
	billedWrites = "VolumeWriteIOPs"
	bytesUsed    = "VolumeBytesUsed"
	countedOver  = 300.0 // seconds
)

func askBilled(ctx context.Context, a *findings.Aurora, at aws.Options, now time.Time) error {
	api, err := aws.OpenMetrics(ctx, at)
	if err != nil {
		return err
	}
	all, err := api.ClusterMeans(ctx, a.Name, []string{billedReads, billedWrites, bytesUsed}, now.Add(-billedFor).Truncate(time.Hour), now)
	if err != nil {
		return err
	}
	var last time.Time
	for _, m := range all {
		if m.Name == bytesUsed && m.At.After(last) {
			last, a.GiB = m.At, m.Value/(1<<30)
		}
	}
	a.Reads, a.Days = daily(all, billedReads)
	a.Writes, _ = daily(all, billedWrites)
	return nil
}

// daily is the rate of a metric a second: its mean over all days, and the quietest and the busiest day; nil: there is nothing of it.
func daily(all []aws.Metric, name string) (*advise.Figure, int) {
	sums, hours := map[time.Time]float64{}, map[time.Time]float64{}
	total, n := 0.0, 0.0
	for _, m := range all {
		if m.Name == name {
			day := m.At.UTC().Truncate(24 * time.Hour)
			sums[day] += m.Value / countedOver
			hours[day]++
			total, n = total+m.Value/countedOver, n+1
		}
	}
	if n == 0 {
		return nil, 0
	}
	f := advise.Figure{Mean: total / n, Low: total / n, High: total / n}
	for day := range sums {
		const most = 12 // hours, without which a day is none
		if mean := sums[day] / hours[day]; hours[day] >= most {
			f.Low, f.High = min(f.Low, mean), max(f.High, mean)
		}
	}
	return &f, len(sums)
}

// errNoVolume refuses a volume that was given for a cluster that has none.
var errNoVolume = console.UsageError{Text: "--volume: this is Aurora, which has no volume: its storage is billed by its requests", Hint: "leave --volume out"}
