package document

import (
	"errors"
	"fmt"
	"strings"
)

// Assign sets the value at a dotted path, making mappings on the way: what --set key=value does, where flag is "--set".
func Assign(root *Node, flag, assignment string) error {
	path, text, ok := strings.Cut(assignment, "=")
	if !ok || path == "" {
		return Problems{{File: flag + " " + assignment, Text: "expected key=value"}}
	}
	value := &Node{File: flag + " " + assignment}
	if text != "" {
		parsed, err := FlagValue(flag+" "+path, text)
		if err != nil {
			return err
		}
		value = parsed
	}
	keys := strings.Split(path, ".")
	at := root
	for _, key := range keys[:len(keys)-1] {
		next := at.Get(key)
		if next == nil || next.Kind == Nothing {
			next = &Node{Kind: Mapping, File: value.File}
			at.Put(key, next)
		}
		if next.Kind != Mapping {
			return Problems{value.Errorf("%q is %s, it has no %q", key, next.Kind, keys[len(keys)-1])}
		}
		at = next
	}
	at.Put(keys[len(keys)-1], value)
	return nil
}

// FlagValue reads what a flag was given. A single value has no line and column: the flag's name is its place.
func FlagValue(flag, text string) (*Node, error) {
	value, err := Parse(flag, []byte(text))
	if err == nil && value.Kind != Mapping && value.Kind != Sequence {
		value.Line, value.Column = 0, 0
	}
	var wrong Problems
	if errors.As(err, &wrong) && len(wrong) == 1 && wrong[0].folded {
		wrong[0].Line, wrong[0].Column, wrong[0].Hint = 0, 0, quotedFor(flag, text)
	}
	return value, err
}

// quotedFor is how a list with one text is written for a shell and for YAML, in the quotes of both.
func quotedFor(flag, list string) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(list, "["), "]")
	if len(inner) != len(list)-2 || strings.ContainsAny(inner, "'`$\\!,") {
		inner = "A > B"
	}
	name, key, _ := strings.Cut(flag, " ")
	return fmt.Sprintf(`%s "%s=['%s']"`, name, key, strings.ReplaceAll(inner, `"`, `\"`))
}
