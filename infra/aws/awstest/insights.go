package awstest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Waits are what instances wait for, as Performance Insights has it.
type Waits struct {
	requests *requests
	of       map[string]map[string][]point // by resource and event
}

// Put puts what an instance waited for in the minute that begins at a time, as Performance Insights has it. An instance of which
// nothing was put has no Performance Insights.
func (s *Waits) Put(instance, event string, at time.Time, aas float64) {
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	resource := resourceOf(instance)
	if s.of[resource] == nil {
		s.of[resource] = map[string][]point{}
	}
	s.of[resource][event] = append(s.of[resource][event], point{at, aas})
}

func resourceOf(instance string) string { return "db-" + strings.ToUpper(instance) }

// insightsTarget is how a request to Performance Insights says what it asks.
const insightsTarget = "PerformanceInsightsv20180227."

// answer answers GetResourceMetrics of Performance Insights, grouped by what is waited for.
func (s *Waits) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Identifier         string
		StartTime, EndTime float64
		PeriodInSeconds    int
		MetricQueries      []struct{ Metric string }
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), insightsTarget)
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || name != "GetResourceMetrics" || len(in.MetricQueries) != 1 || in.MetricQueries[0].Metric != "db.load.avg" {
		refuseJSON(w, "InvalidArgumentException", "the stand-in does not know this question")
		return
	}
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	fault := s.requests.nextFault(name)
	if failJSON(w, fault) {
		return
	}
	s.requests.asked[name]++
	if fault == Lost {
		panic(http.ErrAbortHandler) // closes the connection
	}
	events, has := s.of[in.Identifier]
	if !has {
		refuseJSON(w, "NotAuthorizedException", "Performance Insights is not enabled for "+in.Identifier)
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
