package kubetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"plimsoll/infra/kube"
)

// ServeHTTP answers as the API does, to the little that Plimsoll and kubectl ask.
func (c *Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/exec") {
		c.serveExec(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	status, answer := c.answer(r.Method, r.URL, body)
	if status == 0 { // the answer is lost
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// place is what a path of the API names.
type place struct {
	kind Kind
	name string
}

func (c *Cluster) place(path string) (place, bool) {
	words := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	switch {
	case len(words) >= 5 && words[0] == "api":
		words = words[1:]
	case len(words) >= 6 && words[0] == "apis":
		group, words = words[1], words[2:]
	default:
		return place{}, false
	}
	if words[1] != "namespaces" || len(words) > 5 {
		return place{}, false
	}
	k, known := c.kinds[kindKey(group, words[0], words[3])]
	k.Namespace = words[2]
	p := place{kind: k}
	if len(words) == 5 {
		p.name = words[4]
	}
	return p, known
}

func (c *Cluster) answer(method string, at *url.URL, body []byte) (int, any) {
	if found := c.discover(at.Path); found != nil {
		return http.StatusOK, found
	}
	p, known := c.place(at.Path)
	if !known {
		return refusal(http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	}
	if method == http.MethodGet && (p.kind.schema != nil || len(p.kind.Fields) > 0) {
		c.operate()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if method == http.MethodGet {
		return c.get(p, at.Query())
	}
	c.writes = append(c.writes, method+" "+at.RequestURI())
	o, err := parse(body)
	if err != nil {
		return refusal(http.StatusBadRequest, "BadRequest", err.Error())
	}
	lost := false
	if len(c.failures) > 0 && !at.Query().Has("dryRun") {
		f := c.failures[0]
		c.failures = c.failures[1:]
		if f.Before != nil {
			c.mu.Unlock()
			f.Before(c)
			c.mu.Lock()
		}
		if f.Status != 0 {
			return refusal(f.Status, f.Reason, "a failure of the test")
		}
		lost = f.Lost
	}
	status, answer := c.write(method, p, at.Query(), o)
	if lost {
		return 0, nil
	}
	return status, answer
}

// operate has the operator do the next thing.
func (c *Cluster) operate() {
	c.mu.Lock()
	do := c.Operator
	busy := c.acting
	c.acting = true
	c.mu.Unlock()
	if busy {
		return
	}
	if do != nil {
		do(c)
	}
	c.mu.Lock()
	c.acting = false
	c.mu.Unlock()
}

func (c *Cluster) get(p place, query url.Values) (int, any) {
	if p.name != "" {
		o := c.objects[objectKey(p.kind.Kind, p.kind.Namespace, p.name)]
		if o == nil {
			return refusal(http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", p.kind.Plural, p.name))
		}
		return http.StatusOK, o.With(kube.Path{"apiVersion"}, apiVersion(p.kind)).With(kube.Path{"kind"}, p.kind.Kind.Kind)
	}
	name, one := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name=")
	items := []kube.Object{}
	for _, o := range c.all(p.kind.Kind) {
		if one && o.Name() != name || !labelled(o, query.Get("labelSelector")) {
			continue
		}
		items = append(items, o)
	}
	return http.StatusOK, map[string]any{"apiVersion": apiVersion(p.kind), "kind": p.kind.Kind.Kind + "List", "items": items}
}

func labelled(o kube.Object, selector string) bool {
	for _, want := range strings.FieldsFunc(selector, func(r rune) bool { return r == ',' }) {
		key, value, valued := strings.Cut(want, "=")
		if label := o.Text(kube.Path{"metadata", "labels", key}); label == "" || valued && label != value {
			return false
		}
	}
	return true
}

func apiVersion(k Kind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

func (c *Cluster) write(method string, p place, query url.Values, o kube.Object) (int, any) {
	if method == http.MethodPost {
		p.name = o.Name()
	}
	key := objectKey(p.kind.Kind, p.kind.Namespace, p.name)
	before := c.objects[key]
	switch {
	case method == http.MethodPost && before != nil:
		return refusal(http.StatusConflict, "AlreadyExists", fmt.Sprintf("%s %q already exists", p.kind.Plural, p.name))
	case method == http.MethodPut && before == nil:
		return refusal(http.StatusNotFound, "NotFound", fmt.Sprintf("%s %q not found", p.kind.Plural, p.name))
	case method != http.MethodPost && method != http.MethodPut:
		return refusal(http.StatusMethodNotAllowed, "MethodNotAllowed", method)
	case o.Text(kube.Path{"apiVersion"}) != apiVersion(p.kind), o.Text(kube.Path{"kind"}) != p.kind.Kind.Kind:
		return refusal(http.StatusBadRequest, "BadRequest", "the object says that it is another kind")
	}
	unknown, wrong := p.kind.judge(o)
	if len(unknown) > 0 {
		if query.Get("fieldValidation") == "Strict" {
			return refusal(http.StatusBadRequest, "BadRequest", fmt.Sprintf("strict decoding error: unknown field %q", unknown[0]))
		}
		for _, field := range unknown { // it drops them with a warning
			o = normal(o.With(kube.At(field), nil))
		}
	}
	if len(wrong) > 0 {
		return refusal(http.StatusUnprocessableEntity, "Invalid", wrong[0])
	}
	if p.kind.Rule != nil {
		if why := p.kind.Rule(o); why != "" {
			return refusal(http.StatusUnprocessableEntity, "Invalid", why)
		}
	}
	if method == http.MethodPut {
		if v := o.Version(); v != "" && v != before.Version() {
			return refusal(http.StatusConflict, "Conflict", "the object has been modified; please apply your changes to the latest version and try again")
		}
		o = o.With(kube.Path{"status"}, before["status"]) // which is written elsewhere
		o = generated(before, o)
	} else {
		c.uids++
		o = o.With(kube.At("metadata.uid"), fmt.Sprintf("uid-%d", c.uids)).With(kube.At("metadata.generation"), json.Number("1"))
	}
	if query.Get("dryRun") == "All" {
		return http.StatusOK, o
	}
	if method == http.MethodPost || !equal(before, o) {
		c.store(p.kind.Kind, p.name, o)
	}
	return http.StatusOK, c.objects[key]
}

func refusal(status int, reason, message string) (int, any) {
	return status, map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": reason, "message": message, "metadata": map[string]any{},
	}
}

// discover is what the API says it has, as far as kubectl exec asks.
func (c *Cluster) discover(path string) any {
	switch path {
	case "/api":
		return map[string]any{"kind": "APIVersions", "versions": []string{"v1"}}
	case "/apis":
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}}
	case "/api/v1":
		return map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
			map[string]any{"name": "pods", "singularName": "pod", "namespaced": true, "kind": "Pod", "verbs": []string{"get", "list"}},
			map[string]any{"name": "pods/exec", "singularName": "", "namespaced": true, "kind": "PodExecOptions", "verbs": []string{"create", "get"}},
		}}
	}
	return nil
}
