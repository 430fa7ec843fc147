package collect

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/watch"
)

// secret is what a setting is called that may hold a secret, or a parameter in its value, which may be a map.
var secret = regexp.MustCompile(`(?i)passw|passwd|secret|token|credential|private_?key`)

// withoutSecrets leaves out the values of a setting of a ring that may hold a secret: a change is kept, shown and sent on.
func withoutSecrets(c watch.Change) watch.Change {
	if secret.MatchString(c.What) || secret.MatchString(c.From) || secret.MatchString(c.To) {
		c.From, c.To = "", ""
	}
	return c
}

// secretVariable ends the name of a variable of MySQL or MariaDB whose value is a secret, such as report_password, wsrep_sst_auth or
// authentication_ldap_simple_bind_root_pwd. Many others have such words in their names and are policies or files: old_passwords,
// caching_sha2_password_private_key_path.
var secretVariable = regexp.MustCompile(`(?i)(^|[._])(password|passwd|pwd|passphrase|secret|secret_id|secret_key|access_key|token|auth|filekey|headers)$`)

// switches end so too, and are ON or OFF.
var switches = []string{"disconnect_on_expired_password", "secure_auth"}

// holdsSecret tells whether the value of a variable is a secret.
func holdsSecret(variable string) bool {
	return secretVariable.MatchString(variable) && !slices.Contains(switches, strings.ToLower(variable))
}

// inStatement is what a statement or a list of options, such as those of init_connect and wsrep_provider_options, has in it where it may have a secret.
var inStatement = regexp.MustCompile(`(?i)passw|passwd|secret|token|credential|private_?key|identified`)

// withoutSecretValues leaves out the values of a variable of MySQL or MariaDB that may hold a secret.
func withoutSecretValues(c watch.Change) watch.Change {
	tells := func(value string) bool { return strings.ContainsAny(value, "= ") && inStatement.MatchString(value) }
	if holdsSecret(c.What) || tells(c.From) || tells(c.To) {
		c.From, c.To = "", ""
	}
	return c
}
