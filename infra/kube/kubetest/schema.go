package kubetest

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"plimsoll/infra/kube"
)

//go:embed schemas/*.json
var schemas embed.FS

// Published is a kind of objects of an operator, called as the API calls it in the plural, in a namespace. Its schema is what the
// operator publishes, cut down to the fields that are used here; rules in CEL are left to a real API server.
func Published(plural, namespace string) Kind {
	var definition struct {
		Spec struct {
			Group    string
			Names    struct{ Kind, Plural string }
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema schema }
			}
		}
	}
	if err := json.Unmarshal(Definition(plural), &definition); err != nil {
		panic("kubetest: read the schema of " + plural + ": " + err.Error())
	}
	d := definition.Spec
	return Kind{
		Kind:   kube.Kind{Group: d.Group, Version: d.Versions[0].Name, Kind: d.Names.Kind, Plural: d.Names.Plural, Namespace: namespace},
		schema: &d.Versions[0].Schema.OpenAPIV3Schema,
	}
}

// Definition is the CustomResourceDefinition of a kind, as JSON.
func Definition(plural string) []byte {
	data, err := schemas.ReadFile(path.Join("schemas", plural+".json"))
	if err != nil {
		panic("kubetest: " + err.Error())
	}
	return data
}

// Definitions are the kinds that there are schemas of.
func Definitions() (all []string) {
	files, err := schemas.ReadDir("schemas")
	if err != nil {
		panic("kubetest: " + err.Error())
	}
	for _, f := range files {
		if name, is := strings.CutSuffix(f.Name(), ".json"); is {
			all = append(all, name)
		}
	}
	return all
}

// schema is what the API checks a value with: the part of JSON Schema that the published ones use.
type schema struct {
	Type                 string
	Properties           map[string]*schema
	AdditionalProperties *schema
	Items                *schema
	Required             []string
	Enum                 []any
	Minimum, Maximum     *float64
	Pattern              string
	Preserve             bool `json:"x-kubernetes-preserve-unknown-fields"`
	IntOrString          bool `json:"x-kubernetes-int-or-string"`
}

// Has tells whether a path leads to a field that the schema names, or into one that may hold anything.
func (k Kind) Has(p kube.Path) bool {
	at := k.schema
	for _, name := range p {
		switch {
		case at.Items != nil:
			at = at.Items
		case at.Properties[name] != nil:
			at = at.Properties[name]
		case at.AdditionalProperties != nil:
			at = at.AdditionalProperties
		default:
			return at.Preserve && len(at.Properties) == 0
		}
	}
	return true
}

// judge says which fields of a value are unknown, and what else is wrong with it.
func (s *schema) judge(v any, at string) (unknown, wrong []string) {
	add := func(inner *schema, v any, at string) {
		u, w := inner.judge(v, at)
		unknown, wrong = append(unknown, u...), append(wrong, w...)
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Type != "object" {
			return nil, []string{at + ": it must be of type " + s.Type}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			switch {
			case s.Properties[name] != nil:
				add(s.Properties[name], v[name], at+"."+name)
			case s.AdditionalProperties != nil:
				add(s.AdditionalProperties, v[name], at+"."+name)
			case !s.Preserve:
				unknown = append(unknown, at+"."+name)
			}
		}
		for _, name := range s.Required {
			if _, there := v[name]; !there {
				wrong = append(wrong, at+"."+name+": it is required")
			}
		}
	case []any:
		if s.Type != "array" {
			return nil, []string{at + ": it must be of type " + s.Type}
		}
		for i, item := range v {
			add(s.Items, item, fmt.Sprintf("%s.%d", at, i))
		}
	default:
		if why := s.judgeScalar(v); why != "" {
			wrong = append(wrong, at+": "+why)
		}
	}
	return unknown, wrong
}

func (s *schema) judgeScalar(v any) string {
	is := map[string]bool{}
	switch v := v.(type) {
	case string:
		is["string"] = true
		if s.Pattern != "" && !regexp.MustCompile(s.Pattern).MatchString(v) {
			return "it must match " + s.Pattern
		}
	case bool:
		is["boolean"] = true
	case json.Number:
		_, err := v.Int64()
		is["integer"], is["number"] = err == nil, true
		n, _ := v.Float64()
		if s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
			return "it is out of range"
		}
	}
	switch {
	case s.IntOrString && (is["string"] || is["integer"]) || s.Type == "" && s.Preserve:
	case !is[s.Type]:
		return "it must be of type " + s.Type
	case len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }):
		return fmt.Sprintf("it must be one of %v", s.Enum)
	}
	return ""
}
