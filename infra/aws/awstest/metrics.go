package awstest

import (
	"net/url"
	"strconv"
	"time"
)

// Metrics are what CloudWatch has of a region.
type Metrics struct {
	region *Server
	of     map[string][]point // by instance/name
}

// Put puts what CloudWatch saw of an instance in the minute that begins at a time, or of a cluster in the hour.
func (s *Metrics) Put(instance, name string, at time.Time, mean float64) {
	s.region.mu.Lock()
	defer s.region.mu.Unlock()
	key := instance + "/" + name
	s.of[key] = append(s.of[key], point{at, mean})
}

type point struct {
	at    time.Time
	value float64
}

// within are the points from a time until before another.
func within(all []point, from, to time.Time) (some []point) {
	for _, p := range all {
		if !p.at.Before(from) && p.at.Before(to) {
			some = append(some, p)
		}
	}
	return some
}

// answer answers GetMetricData of CloudWatch, of which it knows single metrics of DB instances and of clusters.
func (s *Metrics) answer(q url.Values) (string, error) {
	from, _ := time.Parse(time.RFC3339, q.Get("StartTime"))
	to, _ := time.Parse(time.RFC3339, q.Get("EndTime"))
	var all string
	for n := 1; ; n++ {
		at := "MetricDataQueries.member." + strconv.Itoa(n)
		if !q.Has(at + ".Id") {
			return "<MetricDataResults>" + all + "</MetricDataResults>", nil
		}
		if n > 500 {
			return "", refuse("ValidationError", "The collection MetricDataQueries must not have a size greater than 500.")
		}
		of := at + ".MetricStat.Metric"
		_, isCluster := s.region.Clusters.all[q.Get(of+".Dimensions.member.1.Value")]
		dimension := "DBInstanceIdentifier"
		if isCluster {
			dimension = "DBClusterIdentifier"
		}
		if q.Get(of+".Namespace") != "AWS/RDS" || q.Get(of+".Dimensions.member.1.Name") != dimension || q.Get(at+".MetricStat.Stat") != "Average" {
			return "", refuse("ValidationError", "the stand-in knows averages of DB instances, and not %s", q.Get(of+".Namespace"))
		}
		var times, values string
		for _, p := range within(s.of[q.Get(of+".Dimensions.member.1.Value")+"/"+q.Get(of+".MetricName")], from, to) {
			times = el("member", p.at.UTC().Format(time.RFC3339)) + times // the newest first, as CloudWatch has them
			values = el("member", strconv.FormatFloat(p.value, 'g', -1, 64)) + values
		}
		all += "<member>" + el("Id", q.Get(at+".Id")) + el("Label", q.Get(of+".MetricName")) + "<Timestamps>" + times + "</Timestamps><Values>" + values + "</Values><StatusCode>Complete</StatusCode></member>"
	}
}
