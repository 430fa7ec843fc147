package sink

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// clientVersion is the release of OpenSearch's own JavaScript client whose types are made from OpenSearch's published description of
// its API; it is fetched by npm once and kept with other caches.
const clientVersion = "3.9.0"

// publishedTypes are the fields of the types of index state management, as the client has them: type, field, type of the field.
func publishedTypes(t *testing.T) map[string]map[string]string {
	t.Helper()
	if testing.Short() {
		t.Skip("fetches OpenSearch's types")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(cache, "plimsoll", "opensearch-client-"+clientVersion)
	path := filepath.Join(folder, "node_modules", "@opensearch-project", "opensearch", "api", "_types", "ism._common.d.ts")
	if _, err := os.Stat(path); err != nil {
		if out, err := exec.CommandContext(t.Context(), "npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "@opensearch-project/opensearch@"+clientVersion).CombinedOutput(); err != nil {
			t.Fatalf("fetch OpenSearch's client with npm: %v\n%s", err, out)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]map[string]string{}
	for _, one := range regexp.MustCompile(`(?s)export type (\w+) = (?:\{(.*?)\n\}|[^\n{]+)`).FindAllStringSubmatch(string(text), -1) {
		fields := map[string]string{}
		for _, f := range regexp.MustCompile(`(?m)^  (\w+)\??: (.*);$`).FindAllStringSubmatch(one[2], -1) {
			fields[f[1]] = f[2]
		}
		types[one[1]] = fields
	}
	return types
}

// strangers lists what of a value its published type does not know. A type without fields takes any.
func strangers(types map[string]map[string]string, name string, value any, at string) (all []string) {
	array := strings.HasSuffix(name, "[]")
	for _, alternative := range strings.Split(name, " | ") { // ism_template: one, or a list
		array = array || strings.HasSuffix(alternative, "[]")
		if known := strings.TrimSuffix(alternative, "[]"); types[known] != nil {
			name = known
		}
	}
	if list, is := value.([]any); is {
		if !array {
			return []string{at + " is a list"}
		}
		for n, one := range list {
			all = append(all, strangers(types, name, one, fmt.Sprintf("%s[%d]", at, n))...)
		}
		return all
	}
	object, is := value.(map[string]any)
	switch {
	case !is && types[name] != nil:
		return []string{at + " is no object"}
	case !is && name == "string":
		if _, text := value.(string); !text {
			return []string{at + " is no text"}
		}
		return nil
	case !is:
		return nil
	case len(types[name]) == 0:
		return nil
	}
	for key, inner := range object {
		of, known := types[name][key]
		if !known {
			all = append(all, at+"."+key+" is unknown")
			continue
		}
		all = append(all, strangers(types, of, inner, at+"."+key)...)
	}
	return all
}

// The policy is of the form that OpenSearch publishes; a field that is misspelt is found. The plugin itself can be had only with the
// whole distribution, so that no test here runs it: Maven's registry has the job scheduler that it needs, and no opensearch-index-management.
func TestThePolicyIsOfThePublishedForm(t *testing.T) {
	types := publishedTypes(t)
	if types["Policy"]["states"] != "States[]" || types["Action"]["rollover"] != "ActionRollover" {
		t.Fatalf("the types are not as they were: %v, %v", types["Policy"], types["Action"])
	}
	check := func(change ...string) []string {
		t.Helper()
		text, err := json.Marshal(policyOf("plimsoll-watch", 30*24*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		var policy any
		if err := json.Unmarshal([]byte(strings.NewReplacer(change...).Replace(string(text))), &policy); err != nil {
			t.Fatal(err)
		}
		return strangers(types, "PolicyEnvelope", policy, "")
	}
	if wrong := check(); len(wrong) > 0 {
		t.Error(wrong)
	}
	for _, misspelt := range [][2]string{{"min_index_age", "min_age"}, {"default_state", "first_state"}, {`"rollover"`, `"roll"`}, {"state_name", "state"}, {"index_patterns", "indices"}, {`"20gb"`, `20`}} {
		if wrong := check(misspelt[0], misspelt[1]); len(wrong) != 1 && misspelt[0] != "index_patterns" || len(wrong) == 0 {
			t.Errorf("with %s: %v", misspelt[1], wrong)
		}
	}
	states := policyOf("s", 36*time.Hour)["policy"].(map[string]any)["states"].([]any)
	if after := states[0].(map[string]any)["transitions"].([]any)[0].(map[string]any)["conditions"]; fmt.Sprint(after) != "map[min_rollover_age:36h]" {
		t.Errorf("it is deleted after %v", after)
	}
}
