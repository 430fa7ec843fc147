package awstest

import (
	"net/url"
	"time"
)

// events are what RDS says of its instances.
type events struct {
	clock *clock
	all   []event
}

type event struct {
	source, message string
	at              time.Time
	categories      []string
}

// add notes that something happened to an instance.
func (s *events) add(source, message string, categories ...string) {
	s.all = append(s.all, event{source, message, s.clock.now(), categories})
}

func (s *events) describe(q url.Values) (string, error) {
	since, _ := time.Parse(time.RFC3339, q.Get("StartTime"))
	var all string
	for _, e := range s.all {
		if e.source != q.Get("SourceIdentifier") || e.at.Before(since) {
			continue
		}
		var categories string
		for _, c := range e.categories {
			categories += el("EventCategory", c)
		}
		all += "<Event>" + el("SourceIdentifier", e.source) + el("SourceType", "db-instance") + el("Message", e.message) +
			el("Date", e.at.UTC().Format(time.RFC3339Nano)) + "<EventCategories>" + categories + "</EventCategories></Event>"
	}
	return "<Events>" + all + "</Events>", nil
}
