package main

import (
	"net/url"
	"os"
	"strings"
	"syscall"
)

// passwordVariable carries a password that was typed into a target's URL from the process that was started to the one
// that took its place. It is removed from the environment as soon as it is read.
const passwordVariable = "PLIMSOLL_TYPED_PASSWORD"

// hidePasswords starts the program again, in its own place, without the password of a target URL among its arguments:
// every user of the machine can list those.
func hidePasswords() {
	args, password := withoutPasswords(os.Args)
	if password == "" {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return // the warning about passwords in URLs still stands in the help
	}
	_ = syscall.Exec(self, args, append(os.Environ(), passwordVariable+"="+password)) // on failure: go on as we are
}

// withoutPasswords returns the arguments with the passwords of URLs taken out, and the password.
func withoutPasswords(args []string) (clean []string, password string) {
	clean = make([]string, len(args))
	for i, arg := range args {
		clean[i] = arg
		flag, target := "", arg
		if strings.HasPrefix(arg, "--") {
			if name, value, ok := strings.Cut(arg, "="); ok {
				flag, target = name+"=", value
			}
		}
		u, err := url.Parse(target)
		if err != nil || u.Scheme == "" || u.User == nil {
			continue
		}
		if p, has := u.User.Password(); has {
			password = p
			u.User = url.User(u.User.Username())
			clean[i] = flag + u.String()
		}
	}
	return clean, password
}

// typedPassword returns the password that hidePasswords took out of the arguments.
func typedPassword() string {
	p := os.Getenv(passwordVariable)
	_ = os.Unsetenv(passwordVariable) // cannot fail for a constant name
	return p
}
