//go:build linux

package apiserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"plimsoll/infra/kube"
	"plimsoll/internal/poll"
)

// What a test does to objects in an operator's place or another person's, as kubetest.Cluster has it: by HTTP, as the administrator.

// Put makes an object with its status, or another in its place with a uid of its own.
func (s *Server) Put(k kube.Kind, name string, fields kube.Object) {
	s.t.Helper()
	s.Delete(k, name)
	o := fields.With(kube.At("apiVersion"), apiVersion(k)).With(kube.At("kind"), k.Kind).With(kube.At("metadata.name"), name).With(kube.At("metadata.namespace"), k.Namespace)
	for path, value := range required[k.Kind] {
		o = o.With(kube.At(path), value)
	}
	made := s.must(http.MethodPost, s.at(k, ""), o)
	if o["status"] != nil {
		s.must(http.MethodPut, s.at(k, name)+"/status", made.With(kube.At("status"), o["status"]))
	}
}

// required is what the API asks of the kinds of its own.
var required = map[string]map[string]any{
	"Pod":                   {"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "none"}}}},
	"Service":               {"spec": map[string]any{"clusterIP": "None"}},
	"PersistentVolumeClaim": {"spec": map[string]any{"accessModes": []any{"ReadWriteOnce"}, "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}},
}

// Set changes an object, or its status.
func (s *Server) Set(k kube.Kind, name, path string, value any) {
	s.t.Helper()
	at := s.at(k, name)
	p := kube.At(path)
	if p[0] == "status" {
		at += "/status"
	}
	for {
		o := s.must(http.MethodGet, s.at(k, name), nil)
		status, answer := s.ask(http.MethodPut, at, o.With(p, value))
		if status == http.StatusConflict { // others wrote it in between
			continue
		}
		if status >= 300 {
			s.t.Errorf("set %s of %s: %s", path, name, answer.Text(kube.At("message")))
		}
		return
	}
}

// Delete removes an object, at once.
func (s *Server) Delete(k kube.Kind, name string) {
	s.t.Helper()
	if status, answer := s.ask(http.MethodDelete, s.at(k, name)+"?gracePeriodSeconds=0", nil); status >= 300 && status != http.StatusNotFound {
		s.t.Errorf("delete %s: %s", name, answer.Text(kube.At("message")))
	}
}

// Object is an object as it is; nil if there is none.
func (s *Server) Object(k kube.Kind, name string) kube.Object {
	status, answer := s.ask(http.MethodGet, s.at(k, name), nil)
	if status == http.StatusNotFound {
		return nil
	}
	return answer
}

// All are the objects of a kind in its namespace.
func (s *Server) All(k kube.Kind) []kube.Object {
	return s.must(http.MethodGet, s.at(k, ""), nil).List(kube.At("items"))
}

func apiVersion(k kube.Kind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

func (s *Server) at(k kube.Kind, name string) string {
	root := "/apis/" + apiVersion(k)
	if k.Group == "" {
		root = "/api/" + k.Version
	}
	at := s.url + root + "/namespaces/" + k.Namespace + "/" + k.Plural
	if name != "" {
		at += "/" + name
	}
	return at
}

func (s *Server) must(method, at string, o kube.Object) kube.Object {
	s.t.Helper()
	status, answer := s.ask(method, at, o)
	if status >= 300 {
		s.t.Errorf("%s %s: %d %s", method, at, status, answer.Text(kube.At("message")))
	}
	return answer
}

// ask asks again while the server says that it is too early, as it does for a while after a definition came.
func (s *Server) ask(method, at string, o kube.Object) (status int, answer kube.Object) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := poll.Until(ctx, 100*time.Millisecond, func() (waitsFor string, err error) {
		if status, answer, err = s.request(method, at, o); status == http.StatusTooManyRequests {
			return answer.Text(kube.At("message")), nil
		}
		return "", err
	})
	if err != nil {
		s.t.Errorf("%s %s: %v", method, at, err)
	}
	return status, answer
}

func (s *Server) request(method, at string, o kube.Object) (status int, answer kube.Object, err error) {
	body, err := json.Marshal(o)
	if err != nil || o == nil {
		body = nil
	}
	r, err := http.NewRequest(method, at, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Content-Type", "application/json")
	client, err := s.client()
	if err != nil {
		return 0, nil, err
	}
	defer client.CloseIdleConnections()
	got, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	data, err := io.ReadAll(got.Body)
	if err := errors.Join(err, got.Body.Close()); err != nil {
		return 0, nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		return got.StatusCode, nil, fmt.Errorf("read %q: %w", data, err)
	}
	return got.StatusCode, answer, nil
}

func (s *Server) client() (*http.Client, error) {
	authority, err := os.ReadFile(s.path("apiserver.crt"))
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}, nil
}
