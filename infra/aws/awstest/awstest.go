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
	"testing"
	"time"
)

// Server is a region of RDS. What stands in it is put there and looked at by its parts: Instances, Clusters and so on. Change the fields above
// them before it is asked; it is safe for concurrent use afterwards.
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

	Instances       *Instances
	Clusters        *Clusters
	Endpoints       *Endpoints
	ParameterGroups *ParameterGroups
	BlueGreens      *BlueGreens
	Metrics         *Metrics
	Waits           *Waits
	Prices          *Prices

	clock
	requests
	events     *events
	operations map[string]operation
}

// operation answers a request with the inside of its result.
type operation func(url.Values) (string, error)

// New starts a region that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{Takes: 30 * time.Millisecond, Unseen: 2, requests: newRequests()}
	s.events = &events{clock: &s.clock}
	s.Instances = &Instances{region: s, all: map[string]*Instance{}}
	s.Clusters = &Clusters{region: s, all: map[string]*cluster{}}
	s.Endpoints = &Endpoints{region: s, all: map[string]*endpoint{}}
	s.ParameterGroups = &ParameterGroups{region: s, all: map[string]map[string]*parameter{}}
	s.BlueGreens = &BlueGreens{region: s}
	s.Metrics = &Metrics{region: s, of: map[string][]point{}}
	s.Waits = &Waits{requests: &s.requests, of: map[string]map[string][]point{}}
	s.Prices = &Prices{requests: &s.requests, page: pageOfPrices, tokens: map[string]string{}}
	s.operations = map[string]operation{
		"DescribeDBInstances":           s.Instances.describe,
		"DescribeDBClusters":            s.Clusters.describe,
		"DescribeBlueGreenDeployments":  s.BlueGreens.describe,
		"CreateBlueGreenDeployment":     s.BlueGreens.create,
		"SwitchoverBlueGreenDeployment": s.BlueGreens.switchOver,
		"DeleteBlueGreenDeployment":     s.BlueGreens.delete,
		"DescribeDBParameters":          s.ParameterGroups.describe,
		"DescribeEvents":                s.events.describe,
		"GetMetricData":                 s.Metrics.answer,
		"ModifyDBInstance":              s.Instances.modify,
		"RebootDBInstance":              s.Instances.reboot,
		"CreateDBInstance":              s.Clusters.createMember,
		"CreateDBInstanceReadReplica":   s.Instances.createReplica,
		"PromoteReadReplica":            s.Instances.promote,
		"DeleteDBInstance":              s.Instances.delete,
		"ModifyDBParameterGroup":        s.ParameterGroups.modify,
		"FailoverDBCluster":             s.Clusters.failover,
		"RestoreDBClusterToPointInTime": s.Clusters.clone,
		"DeleteDBCluster":               s.Clusters.delete,
		"DescribeDBClusterEndpoints":    s.Endpoints.describe,
		"ModifyDBClusterEndpoint":       s.Endpoints.modify,
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
	clear(s.Instances.all)
	clear(s.Clusters.all)
	clear(s.Endpoints.all)
	clear(s.ParameterGroups.all)
	s.BlueGreens.all, s.events.all = nil, nil
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
		s.Waits.answer(w, r)
		return
	}
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), pricingTarget) {
		s.Prices.answer(w, r)
		return
	}
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	name := r.PostForm.Get("Action")
	s.mu.Lock()
	fault := s.nextFault(name)
	var body string
	err := faulty(fault)
	do, known := s.operations[name]
	switch {
	case err != nil:
	case !known:
		err = refuse("InvalidAction", "the stand-in does not know %q", name)
	case fault == Ignored && !slices.Contains(looks, name):
		s.asked[name]++
	default:
		if body, err = do(r.PostForm); err == nil {
			s.asked[name]++
		}
	}
	s.Endpoints.watch()
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
	case Expired:
		return &apiError{"ExpiredToken", "The security token included in the request is expired", http.StatusForbidden}
	case Unknown:
		return &apiError{"InvalidClientTokenId", "The security token included in the request is invalid.", http.StatusForbidden}
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
