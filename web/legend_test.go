package web

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"plimsoll/report/chart"
	"plimsoll/watch"
	"plimsoll/web/words"
)

var (
	lineName = regexp.MustCompile(`<text class="name ink\d+"[^>]*>(?:<title>[^<]*</title>)?([^<]*)</text>`)
	heading  = regexp.MustCompile(`<svg class="chart"[^>]* aria-label="([^"]*)"`)
	hangul   = regexp.MustCompile(`\p{Hangul}`)
	common   = regexp.MustCompile(`^(CPU|\d+ vCPU|AAS)$`) // the same word in every language
)

// The curves of a page in Korean have Korean titles and legends. Only names that are the same everywhere stay, and an alert's title, which is
// the expression of its rule.
func TestKoreanCurvesHaveKoreanLegends(t *testing.T) {
	h := newHouse(t)
	v := h.entered()
	alert := h.Watch.picture().Alerts[0].Page()
	for path, charts := range map[string]int{"/fleet/orders/n1?span=1h": 6, alert: 1} {
		page := v.get(path, "Accept-Language", "ko").body
		titles, names := heading.FindAllStringSubmatch(page, -1), lineName.FindAllStringSubmatch(page, -1)
		if len(titles) != charts || len(names) < charts {
			t.Errorf("%s: %d curves with %d names, expected %d", path, len(titles), len(names), charts)
		}
		for _, found := range titles {
			if title := found[1]; path != alert && !hangul.MatchString(strings.SplitN(title, ":", 2)[0]) {
				t.Errorf("%s: a curve is called %q", path, title)
			}
		}
		for _, found := range names {
			if name := found[1]; name != "" && !hangul.MatchString(name) && !common.MatchString(name) {
				t.Errorf("%s: a line is called %q", path, name)
			}
		}
		for _, kind := range []string{"setting", "restart"} {
			if strings.Contains(page, `<th scope="row">`+kind+"<") {
				t.Errorf("%s: a change is called %q", path, kind)
			}
		}
	}
}

// Who draws the curves from JSON gets the words beside the names, which stay what programs know.
func TestLinesKeepTheirNamesForPrograms(t *testing.T) {
	h := newHouse(t)
	var told struct{ Charts []chart.Chart }
	a := h.entered().get("/fleet/orders/n1?span=1h", "Accept", "application/json", "Accept-Language", "ko")
	if err := json.Unmarshal([]byte(a.body), &told); err != nil || len(told.Charts) == 0 {
		t.Fatalf("%v: %.200s", err, a.body)
	}
	if l := told.Charts[0].Lines[2]; l.Name != "row lock" || l.Label != "로우 락" {
		t.Errorf("%q, labelled %q", l.Name, l.Label)
	}
}

// Every line that our own curves can have has its word in each language.
func TestEveryLineHasItsWord(t *testing.T) {
	for _, l := range words.Languages {
		book, err := words.Read(l)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[string][]string{"wait": watch.Classes, "commit": {"total", "redo", "binlog", "semi-sync", "queue"}, "legend": {valueLine, limitLine}}
		for _, c := range curvesOf {
			if c.by == "" || c.by == "channel" {
				lines["legend"] = append(lines["legend"], c.key)
			}
			lines["curve"] = append(lines["curve"], c.key)
		}
		for page, names := range lines {
			for _, name := range names {
				if _, known := book[page+"."+name]; !known {
					t.Errorf("%s lacks %s.%s", l, page, name)
				}
			}
		}
		if got := labelOf(book, "lag", "analytics"); got != "" {
			t.Errorf("a channel of one's own is called %q", got)
		}
		limit := chart.Line{Name: limitLine + " 30.0 s"}
		if limit.Label = labelOf(book, "x", limit.Name); !strings.Contains(limit.Shown(), "30.0 s") || l == words.Korean && !hangul.MatchString(limit.Shown()) {
			t.Errorf("a limit is called %q", limit.Shown())
		}
	}
}
