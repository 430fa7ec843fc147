// Package awstest is a stand-in for the APIs of RDS, CloudWatch, Performance Insights and the Price List: an HTTP handler that answers the requests of the real SDK with the states, guards,
// delays and faults of the real service as its documentation and its users describe them. It is not AWS: what it does is what we
// read, not what we measured. A test that uses it says so.
package awstest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Server is a region of RDS. Change its fields before it is asked; it is safe for concurrent use afterwards.
type Server struct {
	URL string
	// Takes is how long an accepted change takes, after the looks during which nothing of it is to be seen yet. Default 30 ms.
	Takes time.Duration
	// Unseen is how many looks at an instance show it as it was, "available", after a change was accepted. Default 2.
	Unseen int
	// Rebooted is told when the server of an instance restarts, in its course; may be nil.
	Rebooted func(instance string)
	// Green is asked where the copy of a blue/green deployment of an instance really is; nil: where the instance is.
	Green func(instance string) (address string)
	// Joined is asked where a new member of a cluster of Aurora really is; nil: where the cluster is.
	Joined func(cluster, instance string) (address string)
	// Cloned is asked where the clone of a cluster of Aurora really is; nil: where the cluster is.
	Cloned func(source, clone string) (address string)
	// SwitchedOver is told of a switchover, in its course; may be nil.
	SwitchedOver func(old, new Instance)
	// StorageOf is how a cluster's storage is billed, by its name: aurora-iopt1; none: Standard.
	StorageOf map[string]string
	// Promoted is told of a replica that becomes an instance of its own, and of a reader of Aurora that becomes the writer, in its
	// course; former is the writer of before. May be nil.
	Promoted func(instance, former string)
	// Parameter is told when a parameter comes into force; may be nil.
	Parameter func(group, name, value string)

	clock
	mu         sync.Mutex
	instances  map[string]*Instance
	clusters   map[string]*cluster
	endpoints  map[string]*endpoint
	groups     map[string]map[string]*parameter
	events     []event
	faults     map[string][]Fault
	asked      map[string]int
	snapshots  []string                      // that were taken of instances before they were deleted
	backups    []string                      // instances that were deleted and whose automated backups are kept
	metrics    map[string][]point            // by instance/name
	waits      map[string]map[string][]point // by resource and event
	blueGreens []*blueGreen
	failing    string // the deployment whose switchover fails
	prices     []PriceEntry
	published  string // when the prices were
}

// Fault is something that goes wrong with a request.
type Fault string

// The faults.
const (
	Throttled Fault = "throttled" // refused: too many requests; nothing was done
	Broken    Fault = "broken"    // status 500; nothing was done
	Lost      Fault = "lost"      // done, and the connection breaks before the answer
	Ignored   Fault = "ignored"   // accepted, and nothing is done
	Denied    Fault = "denied"    // refused: the credentials may not; nothing was done
)

// New starts a region that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{
		Takes: 30 * time.Millisecond, Unseen: 2,
		instances: map[string]*Instance{}, clusters: map[string]*cluster{}, endpoints: map[string]*endpoint{}, groups: map[string]map[string]*parameter{},
		faults: map[string][]Fault{}, asked: map[string]int{},
		metrics: map[string][]point{}, waits: map[string]map[string][]point{},
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s
}

// Reset forgets all instances, clusters, parameters and deployments.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.instances)
	clear(s.clusters)
	clear(s.endpoints)
	clear(s.groups)
	s.blueGreens, s.events = nil, nil
}

// Fail makes the next requests of an operation go wrong, one after another.
func (s *Server) Fail(operation string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[operation] = append(s.faults[operation], faults...)
}

// Asked is how often an operation was asked for and did something, whatever became of its answer.
func (s *Server) Asked(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[operation]
}

// Kept are the last snapshots that were taken, and the deleted instances whose automated backups are there still.
func (s *Server) Kept() (snapshots, backups []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.snapshots), slices.Clone(s.backups)
}

// operations are what the stand-in knows. Each returns the inside of its result.
var operations = map[string]func(*Server, url.Values) (string, error){
	"DescribeDBInstances":           (*Server).describeInstances,
	"DescribeDBClusters":            (*Server).describeClusters,
	"DescribeBlueGreenDeployments":  (*Server).describeBlueGreens,
	"CreateBlueGreenDeployment":     (*Server).createBlueGreen,
	"SwitchoverBlueGreenDeployment": (*Server).switchOver,
	"DeleteBlueGreenDeployment":     (*Server).deleteBlueGreen,
	"DescribeDBParameters":          (*Server).describeParameters,
	"DescribeEvents":                (*Server).describeEvents,
	"GetMetricData":                 (*Server).metricData,
	"ModifyDBInstance":              (*Server).modifyInstance,
	"RebootDBInstance":              (*Server).rebootInstance,
	"CreateDBInstance":              (*Server).createInstance,
	"CreateDBInstanceReadReplica":   (*Server).createReplica,
	"PromoteReadReplica":            (*Server).promote,
	"DeleteDBInstance":              (*Server).deleteInstance,
	"ModifyDBParameterGroup":        (*Server).modifyGroup,
	"FailoverDBCluster":             (*Server).failover,
	"RestoreDBClusterToPointInTime": (*Server).clone,
	"DeleteDBCluster":               (*Server).deleteCluster,
	"DescribeDBClusterEndpoints":    (*Server).describeEndpoints,
	"ModifyDBClusterEndpoint":       (*Server).modifyEndpoint,
}

// looks change nothing.
var looks = []string{"DescribeDBInstances", "DescribeBlueGreenDeployments", "DescribeDBClusters", "DescribeDBClusterEndpoints", "DescribeDBParameters", "DescribeEvents", "GetMetricData"}

// apiError is an error with its code.
type apiError struct {
	code, message string
	status        int
}

func (e *apiError) Error() string { return e.code + ": " + e.message }

func refuse(code, format string, args ...any) error {
	return &apiError{code, fmt.Sprintf(format, args...), http.StatusBadRequest}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), insightsTarget) {
		s.insights(w, r)
		return
	}
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), pricingTarget) {
		s.listPrices(w, r)
		return
	}
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := r.PostForm.Get("Action")
	s.mu.Lock()
	fault := Fault("")
	if queue := s.faults[name]; len(queue) > 0 {
		fault, s.faults[name] = queue[0], queue[1:]
	}
	var body string
	err := faulty(fault)
	do, known := operations[name]
	switch {
	case err != nil:
	case !known:
		err = refuse("InvalidAction", "the stand-in does not know %q", name)
	case fault == Ignored && !slices.Contains(looks, name):
		s.asked[name]++
	default:
		if body, err = do(s, r.PostForm); err == nil {
			s.asked[name]++
		}
	}
	s.watchEndpoints()
	s.mu.Unlock()
	if fault == Lost {
		panic(http.ErrAbortHandler) // closes the connection
	}
	answer(w, name, body, err)
}

func faulty(f Fault) error {
	switch f {
	case Throttled:
		return &apiError{"Throttling", "Rate exceeded", http.StatusBadRequest}
	case Denied:
		return &apiError{"AccessDenied", "User is not authorized to perform it", http.StatusForbidden}
	case Broken:
		return &apiError{"InternalFailure", "something went wrong", http.StatusInternalServerError}
	}
	return nil
}

func answer(w http.ResponseWriter, name, body string, err error) {
	w.Header().Set("Content-Type", "text/xml")
	var e *apiError
	if errors.As(err, &e) {
		w.WriteHeader(e.status)
		_, _ = fmt.Fprintf(w, `<ErrorResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><Error><Type>Sender</Type>%s%s</Error><RequestId>r</RequestId></ErrorResponse>`,
			el("Code", e.code), el("Message", e.message))
		return
	}
	_, _ = fmt.Fprintf(w, `<%sResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><%sResult>%s</%sResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></%sResponse>`,
		name, name, body, name, name)
}

type event struct {
	source, message string
	at              time.Time
	categories      []string
}

func (s *Server) happened(source, message string, categories ...string) {
	s.events = append(s.events, event{source, message, s.now(), categories})
}

func (s *Server) describeEvents(q url.Values) (string, error) {
	since, _ := time.Parse(time.RFC3339, q.Get("StartTime"))
	var all string
	for _, e := range s.events {
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
