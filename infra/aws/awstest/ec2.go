package awstest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/infra"
)

// EC2 is a stand-in for the instances and volumes of EC2 in one region. Like Server it answers as documentation and users describe the
// real service, and is not that: client tokens are honoured, an attached volume is not stolen, zones are kept apart, answers lag behind,
// attachments and stops take their time or never end. Change its fields before it is asked; it is safe for concurrent use afterwards.
type EC2 struct {
	URL string
	// Takes is how long what was accepted takes. Default 20 ms.
	Takes time.Duration
	// Unseen is how many looks at a volume or an instance show it as it was before a change. Default 2.
	Unseen int
	// Behind is the provider whose volumes are the real ones; nil: there are none. What it does is done before an answer is given.
	Behind infra.Volumes
	// Stopped is told when an instance is about to be stopped; may be nil.
	Stopped func(instance string)

	clock
	requests
	instances map[string]*EC2Instance
	volumes   map[string]*ebs
	made      map[string]creation // by client token
	next      int
}

// NewEC2 starts a region that ends with the test.
func NewEC2(t testing.TB) *EC2 {
	s := &EC2{
		Takes: 20 * time.Millisecond, Unseen: 2, instances: map[string]*EC2Instance{}, volumes: map[string]*ebs{}, made: map[string]creation{},
		requests: newRequests(),
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// ec2Actions are what the stand-in knows. Each returns the inside of its answer.
var ec2Actions = map[string]func(*EC2, url.Values) (string, error){
	"DescribeInstances":            (*EC2).describeInstances,
	"StopInstances":                (*EC2).stopInstances,
	"DescribeVolumes":              (*EC2).describeVolumes,
	"DescribeVolumesModifications": (*EC2).describeModifications,
	"CreateVolume":                 (*EC2).createVolume,
	"DeleteVolume":                 (*EC2).deleteVolume,
	"AttachVolume":                 (*EC2).attachVolume,
	"DetachVolume":                 (*EC2).detachVolume,
	"ModifyVolume":                 (*EC2).modifyVolume,
	"CreateTags":                   (*EC2).createTags,
	"DeleteTags":                   (*EC2).deleteTags,
}

func (s *EC2) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := r.PostForm.Get("Action")
	s.mu.Lock()
	fault := s.nextFault(name)
	var body string
	var err error
	do, known := ec2Actions[name]
	switch {
	case fault == Throttled:
		err = &apiError{"RequestLimitExceeded", "Request limit exceeded.", http.StatusServiceUnavailable}
	case fault == Broken:
		err = &apiError{"InternalError", "An internal error has occurred", http.StatusInternalServerError}
	case !known || r.PostForm.Get("Version") != "2016-11-15":
		err = refuse("InvalidAction", "The action %s is not valid for this web service.", name)
	case fault == Ignored:
		body = el("return", "true")
	default:
		if body, err = do(s, r.PostForm); err == nil {
			s.asked[name]++
		}
	}
	s.mu.Unlock()
	if fault == Lost {
		panic(http.ErrAbortHandler) // closes the connection
	}
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	var e *apiError
	if errors.As(err, &e) {
		w.WriteHeader(e.status)
		_, _ = fmt.Fprintf(w, `<Response><Errors><Error>%s%s</Error></Errors><RequestID>r</RequestID></Response>`, el("Code", e.code), el("Message", e.message))
		return
	}
	_, _ = fmt.Fprintf(w, `<%sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>r</requestId>%s</%sResponse>`, name, body, name)
}

// id is the next id of a kind, of seventeen digits.
func (s *EC2) id(kind string) string {
	s.next++
	return fmt.Sprintf("%s-0%016x", kind, s.next)
}

// background is for what stands behind: a request that was accepted is carried out though nobody waits for its answer.
func background() context.Context { return context.Background() }

// listIn are the values of a list of a request: Name.1, Name.2.
func listIn(q url.Values, name string) (all []string) {
	for i := 1; q.Has(name + "." + strconv.Itoa(i)); i++ {
		all = append(all, q.Get(name+"."+strconv.Itoa(i)))
	}
	return all
}

// pairsIn are the tags of a request below a prefix.
func pairsIn(q url.Values, prefix string) map[string]string {
	tags := map[string]string{}
	for i := 1; q.Has(prefix + "." + strconv.Itoa(i) + ".Key"); i++ {
		at := prefix + "." + strconv.Itoa(i)
		tags[q.Get(at+".Key")] = q.Get(at + ".Value")
	}
	return tags
}

// fits tells whether something with a state and tags passes the filters of a request.
func fits(q url.Values, stateFilter, state string, tags map[string]string) (bool, error) {
	for i := 1; ; i++ {
		at := "Filter." + strconv.Itoa(i)
		name, values := q.Get(at+".Name"), listIn(q, at+".Value")
		key, tagged := strings.CutPrefix(name, "tag:")
		switch {
		case name == "":
			return true, nil
		case tagged:
			value, there := tags[key]
			if !there || !slices.ContainsFunc(values, func(v string) bool { return plain.Replace(v) == value }) {
				return false, nil
			}
		case name == stateFilter:
			if !slices.Contains(values, state) {
				return false, nil
			}
		default:
			return false, refuse("InvalidParameterValue", "The filter '%s' is invalid", name)
		}
	}
}

// plain undoes what keeps a value from being a pattern. Patterns themselves are not known here.
var plain = strings.NewReplacer(`\*`, `*`, `\?`, `?`, `\\`, `\`)

func ec2TagsXML(tags map[string]string) string {
	var all string
	for key, value := range tags {
		all += "<item>" + el("key", key) + "<value>" + escaped(value) + "</value></item>"
	}
	return "<tagSet>" + all + "</tagSet>"
}
