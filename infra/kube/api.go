package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"plimsoll/hint"
	"plimsoll/infra"
)

// API reads and replaces objects through kubectl, which runs on a machine.
type API struct {
	here infra.Machine
	at   Access
}

// NewAPI is the API of a Kubernetes. Nothing is asked yet.
func NewAPI(here infra.Machine, at Access) API { return API{here, at} }

// Kind is where objects of one kind are in a namespace.
type Kind struct {
	Group, Version string // Group is empty for pods and what else belongs to the core
	Kind, Plural   string
	Namespace      string
}

// Pods are the pods of a namespace.
func Pods(namespace string) Kind {
	return Kind{Version: "v1", Kind: "Pod", Plural: "pods", Namespace: namespace}
}

// Services are the services of a namespace.
func Services(namespace string) Kind {
	return Kind{Version: "v1", Kind: "Service", Plural: "services", Namespace: namespace}
}

// Claims are the claims of volumes of a namespace.
func Claims(namespace string) Kind {
	return Kind{Version: "v1", Kind: "PersistentVolumeClaim", Plural: "persistentvolumeclaims", Namespace: namespace}
}

// apiVersion is as objects say it.
func (k Kind) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// path is where the API has one of them, or all.
func (k Kind) path(name string, query url.Values) string {
	path := "/apis/" + k.apiVersion()
	if k.Group == "" {
		path = "/api/" + k.Version
	}
	path += "/namespaces/" + url.PathEscape(k.Namespace) + "/" + k.Plural
	if name != "" {
		path += "/" + url.PathEscape(name)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// ErrNotFound says that there is no object of a name.
var ErrNotFound = errors.New("not found")

// ConflictError is a write that was not made because the object was changed since it was read.
type ConflictError struct{ Object string }

func (e *ConflictError) Error() string {
	return e.Object + " was changed by somebody else after Plimsoll had read it"
}

// Hint says what to do.
func (e *ConflictError) Hint() string { return "plimsoll runbook resume RUN reads it again" }

// Get reads an object. It asks for a list of one: of an object that is not there that is an empty list, and no error to interpret.
func (a API) Get(ctx context.Context, k Kind, name string) (Object, error) {
	all, err := a.list(ctx, k, url.Values{"fieldSelector": {"metadata.name=" + name}})
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", k.Kind, k.Namespace, name, err)
	}
	if len(all) == 0 {
		return nil, hint.With(fmt.Errorf("%s %s/%s: %w", k.Kind, k.Namespace, name, ErrNotFound),
			"this lists those that exist: "+a.at.brief()+" --namespace="+k.Namespace+" get "+k.Plural)
	}
	return all[0], nil
}

// List reads the objects that carry these labels, as kubectl --selector has them.
func (a API) List(ctx context.Context, k Kind, selector string) ([]Object, error) {
	all, err := a.list(ctx, k, url.Values{"labelSelector": {selector}})
	if err != nil {
		return nil, fmt.Errorf("list %s in %s: %w", k.Plural, k.Namespace, err)
	}
	return all, nil
}

func (a API) list(ctx context.Context, k Kind, query url.Values) ([]Object, error) {
	out, err := a.at.run(ctx, a.here, nil, "get", "--raw", k.path("", query))
	if err != nil {
		return nil, a.refused(err, k)
	}
	list, err := parseObject(out)
	if err != nil {
		return nil, err
	}
	items := list.List(Path{"items"})
	for i, o := range items { // lists do not repeat it, and a write must say it
		items[i] = o.With(Path{"apiVersion"}, k.apiVersion()).With(Path{"kind"}, k.Kind)
	}
	return items, nil
}

// refused adds what a person can do to what kubectl said.
func (a API) refused(err error, k Kind) error {
	if exit := (*infra.ExitError)(nil); errors.As(err, &exit) {
		return hint.With(err, "try: "+a.at.brief()+" --namespace="+k.Namespace+" get "+k.Plural)
	}
	return err
}

// Edit is a field and what it is to be; nil takes it away.
type Edit struct {
	Path  Path
	Value any
}

// fieldManager is under which name the API keeps who changed a field.
const fieldManager = "plimsoll"

// Change writes fields of an object as it was read, and only if nobody has changed it since: its resourceVersion goes along. An unknown
// field is refused, where the API itself would drop it with a warning, and what was written is looked at in what comes back.
func (a API) Change(ctx context.Context, k Kind, o Object, edits ...Edit) (Object, error) {
	return a.change(ctx, k, o, url.Values{}, edits)
}

// Try has the API judge a change, with its schema, its rules and the permissions of who asks, and make none.
func (a API) Try(ctx context.Context, k Kind, o Object, edits ...Edit) error {
	_, err := a.change(ctx, k, o, url.Values{"dryRun": {"All"}}, edits)
	return err
}

func (a API) change(ctx context.Context, k Kind, o Object, query url.Values, edits []Edit) (Object, error) {
	name := fmt.Sprintf("%s %s/%s", k.Kind, k.Namespace, o.Name())
	changed := o
	for _, e := range edits {
		changed = changed.With(e.Path, e.Value)
	}
	query.Set("fieldValidation", "Strict")
	query.Set("fieldManager", fieldManager)
	body, err := json.Marshal(changed)
	if err != nil {
		return nil, fmt.Errorf("change %s: %w", name, err)
	}
	out, err := a.at.run(ctx, a.here, body, "replace", "--raw", k.path(o.Name(), query), "-f", "-")
	if err != nil {
		// Whether it was refused, lost, or made and the answer lost, is told by the object, not by kubectl's words.
		if now, asked := a.Get(ctx, k, o.Name()); asked == nil && now.Version() != o.Version() {
			return nil, fmt.Errorf("change %s: %w", name, &ConflictError{name})
		}
		return nil, fmt.Errorf("change %s: %w", name, err)
	}
	written, err := parseObject(out)
	if err != nil {
		return nil, fmt.Errorf("change %s: %w", name, err)
	}
	for _, e := range edits {
		if !same(written.Get(e.Path), e.Value) {
			return nil, fmt.Errorf("change %s: Kubernetes accepted the change, but %s is %v, not %v", name, e.Path, written.Get(e.Path), e.Value)
		}
	}
	return written, nil
}

// same tells whether two values are the same in JSON, where a field that is not there is the same as nil.
func same(a, b any) bool {
	x, unreadable := json.Marshal(a)
	y, err := json.Marshal(b)
	return unreadable == nil && err == nil && bytes.Equal(x, y)
}

// Create creates an object of that name. One that is there already is fine: its name is the token of what it is there for.
func (a API) Create(ctx context.Context, k Kind, name string, labels map[string]string, spec map[string]any) error {
	body, err := a.creation(k, name, labels, spec)
	if err != nil {
		return err
	}
	if _, err = a.at.run(ctx, a.here, body, "create", "--raw", k.path("", url.Values{"fieldValidation": {"Strict"}, "fieldManager": {fieldManager}}), "-f", "-"); err == nil {
		return nil
	}
	if _, asked := a.Get(ctx, k, name); asked == nil {
		return nil
	}
	return fmt.Errorf("create %s %s/%s: %w", k.Kind, k.Namespace, name, err)
}

// TryCreate has the API judge a creation, and makes none.
func (a API) TryCreate(ctx context.Context, k Kind, name string, spec map[string]any) error {
	body, err := a.creation(k, name, nil, spec)
	if err != nil {
		return err
	}
	query := url.Values{"fieldValidation": {"Strict"}, "fieldManager": {fieldManager}, "dryRun": {"All"}}
	if _, err = a.at.run(ctx, a.here, body, "create", "--raw", k.path("", query), "-f", "-"); err != nil {
		return fmt.Errorf("create %s in %s: %w", k.Kind, k.Namespace, err)
	}
	return nil
}

func (a API) creation(k Kind, name string, labels map[string]string, spec map[string]any) ([]byte, error) {
	meta := map[string]any{"name": name, "namespace": k.Namespace}
	if len(labels) > 0 {
		meta["labels"] = labels
	}
	return json.Marshal(Object{"apiVersion": k.apiVersion(), "kind": k.Kind, "metadata": meta, "spec": spec})
}
