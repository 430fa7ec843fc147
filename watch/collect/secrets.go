package collect

import (
	"regexp"

	"plimsoll/engine/secret"
	"plimsoll/watch"
)

// ofRing is what a setting is called that may hold a secret, or a parameter in its value, which may be a map.
var ofRing = regexp.MustCompile(`(?i)passw|passwd|secret|token|credential|private_?key`)

// withoutSecrets leaves out the values of a setting of a ring that may hold a secret: a change is kept, shown and sent on.
func withoutSecrets(c watch.Change) watch.Change {
	if ofRing.MatchString(c.What) || ofRing.MatchString(c.From) || ofRing.MatchString(c.To) {
		c.From, c.To = "", ""
	}
	return c
}

// withoutSecretValues leaves out the values of a variable of MySQL or MariaDB that may hold a secret. Of a list of options only those are left that differ.
func withoutSecretValues(c watch.Change) watch.Change {
	switch {
	case secret.IsList(c.What):
		c.From, c.To = secret.Changed(c.From, c.To)
	case secret.IsCommand(c.What) || secret.Of(c.What, c.From) || secret.Of(c.What, c.To):
		c.From, c.To = "", ""
	}
	return c
}
