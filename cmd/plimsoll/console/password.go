package console

import (
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
)

// passwordVariable carries a password that was typed into a target's URL from the process that was started to the one
// that took its place. It is removed from the environment as soon as it is read.
const passwordVariable = "PLIMSOLL_TYPED_PASSWORD"

// HidePasswords starts the program again, in its own place, without the password of a target URL among its arguments:
// every user of the machine can list those.
func HidePasswords() {
	args, password := withoutPasswords(os.Args)
	if password == "" {
		return
	}
	fmt.Fprintln(os.Stderr, "The shell's history keeps a password in a URL. --password-env NAME, --password-file FILE and --password-command COMMAND avoid that.")
	self, err := os.Executable()
	if err != nil {
		return // it was said
	}
	_ = syscall.Exec(self, args, append(os.Environ(), passwordVariable+"="+password)) // on failure: go on as we are
}

// withoutPasswords returns the arguments with the passwords of URLs taken out, and the password. It cuts as
// engine.ParseTarget does; what that would refuse stays for it.
func withoutPasswords(args []string) (clean []string, password string) {
	clean = slices.Clone(args)
	for i, arg := range args {
		scheme, rest, isURL := strings.Cut(arg, "://")
		before, _, _ := strings.Cut(rest, "?")
		at := strings.LastIndexByte(before, '@')
		if !isURL || at < 0 {
			continue
		}
		user, typed, _ := strings.Cut(before[:at], ":")
		if plain, err := url.PathUnescape(typed); err == nil && plain != "" {
			password = plain
			clean[i] = scheme + "://" + user + rest[at:]
		}
	}
	return clean, password
}

// TypedPassword returns the password that HidePasswords took out of the arguments.
func TypedPassword() string {
	p := os.Getenv(passwordVariable)
	_ = os.Unsetenv(passwordVariable) // cannot fail for a constant name
	return p
}
