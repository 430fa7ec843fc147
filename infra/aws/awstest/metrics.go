package awstest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Metric puts what CloudWatch saw of an instance in the minute that begins at a time, or of a cluster in the hour.
func (s *Server) Metric(instance, name string, at time.Time, mean float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := instance + "/" + name
	s.metrics[key] = append(s.metrics[key], point{at, mean})
}

// Waits puts what an instance waited for in the minute that begins at a time, as Performance Insights has it. An instance of which
// nothing was put has no Performance Insights.
func (s *Server) Waits(instance, event string, at time.Time, aas float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resource := resourceOf(instance)
	if s.waits[resource] == nil {
		s.waits[resource] = map[string][]point{}
	}
	s.waits[resource][event] = append(s.waits[resource][event], point{at, aas})
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

func resourceOf(instance string) string { return "db-" + strings.ToUpper(instance) }

// metricData answers GetMetricData of CloudWatch, of which it knows single metrics of DB instances and of clusters.
func (s *Server) metricData(q url.Values) (string, error) {
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
		_, isCluster := s.clusters[q.Get(of+".Dimensions.member.1.Value")]
		dimension := "DBInstanceIdentifier"
		if isCluster {
			dimension = "DBClusterIdentifier"
		}
		if q.Get(of+".Namespace") != "AWS/RDS" || q.Get(of+".Dimensions.member.1.Name") != dimension || q.Get(at+".MetricStat.Stat") != "Average" {
			return "", refuse("ValidationError", "the stand-in knows averages of DB instances, and not %s", q.Get(of+".Namespace"))
		}
		var times, values string
		for _, p := range within(s.metrics[q.Get(of+".Dimensions.member.1.Value")+"/"+q.Get(of+".MetricName")], from, to) {
			times = el("member", p.at.UTC().Format(time.RFC3339)) + times // the newest first, as CloudWatch has them
			values = el("member", strconv.FormatFloat(p.value, 'g', -1, 64)) + values
		}
		all += "<member>" + el("Id", q.Get(at+".Id")) + el("Label", q.Get(of+".MetricName")) + "<Timestamps>" + times + "</Timestamps><Values>" + values + "</Values><StatusCode>Complete</StatusCode></member>"
	}
}

// insightsTarget is how a request to Performance Insights says what it asks.
const insightsTarget = "PerformanceInsightsv20180227."

// insights answers GetResourceMetrics of Performance Insights, grouped by what is waited for.
func (s *Server) insights(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Identifier         string
		StartTime, EndTime float64
		PeriodInSeconds    int
		MetricQueries      []struct{ Metric string }
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	refuse := func(code, text string) {
		w.Header().Set("X-Amzn-ErrorType", code)
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"__type": code, "Message": text})
	}
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), insightsTarget)
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || name != "GetResourceMetrics" || len(in.MetricQueries) != 1 || in.MetricQueries[0].Metric != "db.load.avg" {
		refuse("InvalidArgumentException", "the stand-in does not know this question")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[name]++
	events, has := s.waits[in.Identifier]
	if !has {
		refuse("NotAuthorizedException", "Performance Insights is not enabled for "+in.Identifier)
		return
	}
	moment := func(seconds float64) time.Time { return time.UnixMilli(int64(1000 * seconds)) }
	type dataPoint struct {
		Timestamp float64
		Value     *float64 `json:",omitempty"`
	}
	type list struct {
		Key        map[string]any
		DataPoints []dataPoint
	}
	sums := map[int64]float64{}
	lists := []list{}
	for event, all := range events {
		one := list{Key: map[string]any{"Metric": "db.load.avg", "Dimensions": map[string]string{"db.wait_event.name": event, "db.wait_event.type": "x"}}}
		for _, p := range within(all, moment(in.StartTime), moment(in.EndTime)) {
			one.DataPoints = append(one.DataPoints, dataPoint{float64(p.at.Unix()), &p.value})
			sums[p.at.Unix()] += p.value
		}
		one.DataPoints = append(one.DataPoints, dataPoint{in.EndTime, nil}) // of a period that has no value yet
		lists = append(lists, one)
	}
	sum := list{Key: map[string]any{"Metric": "db.load.avg"}}
	for at, v := range sums {
		sum.DataPoints = append(sum.DataPoints, dataPoint{float64(at), &v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"Identifier": in.Identifier, "MetricList": append(lists, sum)})
}
