// Package secret tells which settings of MySQL and MariaDB hold a secret. Their values are not recorded, shown or sent on.
package secret

import (
	"regexp"
	"slices"
	"strings"
)

// named ends the name of a variable whose value is a secret, such as report_password, wsrep_sst_auth or
// authentication_ldap_simple_bind_root_pwd. Many others have such words in their names and are policies or files: old_passwords,
// caching_sha2_password_private_key_path.
var named = regexp.MustCompile(`(?i)(^|[._-])(password|passwd|pwd|passphrase|secret|secret_id|secret_key|access_key|token|auth|filekey|headers)$`)

// switches end so too, and are ON or OFF.
var switches = []string{"disconnect_on_expired_password", "secure_auth"}

// Is tells whether the value of a variable is a secret.
func Is(variable string) bool {
	return named.MatchString(variable) && !slices.Contains(switches, strings.ToLower(variable))
}

// commands are variables whose value is SQL, or a command of the shell. A secret stands there in any form: CALL app.login('svc', 'x'), mysql -px.
var commands = []string{"init_connect", "init_slave", "init_replica", "wsrep_notify_cmd"}

// IsCommand tells whether the value of a variable is SQL or a command of the shell.
func IsCommand(variable string) bool { return slices.Contains(commands, strings.ToLower(variable)) }

var (
	// told is what a statement, a command or a list of options has in it where it may have a secret.
	told = regexp.MustCompile(`(?i)passw|passwd|pwd|passphrase|secret|token|credential|private_?key|identified|auth|bearer`)
	// login is an address with a user and a password, such as gcomm://sst:x@db1.
	login = regexp.MustCompile(`//[^\s@]*:[^\s@]*@`)
	// short is the password of a client's command line: mysql -uroot -px.
	short = regexp.MustCompile(`(^|\s)-p\S`)
)

// In tells whether a value may have a secret in it: as a statement, a command, a list of options, or an address with a password.
func In(value string) bool {
	return strings.ContainsAny(value, "= ") && (told.MatchString(value) || short.MatchString(value)) || login.MatchString(value)
}

// Of tells whether a variable holds a secret, by its name or by what its value looks like.
func Of(variable, value string) bool { return Is(variable) || In(value) }
