package home

import (
	"fmt"
	"math"
	"os"
	"os/user"
	"strconv"
	"strings"
)

// Person is who sits here, how that is known, and on which host: the account of the operating system that logged in, even behind sudo
// and su, else the one that runs this. known is empty where there is no such account: then nobody is known. The host is for people;
// anybody can choose its name.
func Person() (who, known, host string) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	mapped, _ := os.ReadFile("/proc/self/uid_map") // none outside of Linux
	login, _ := os.ReadFile("/proc/self/loginuid")
	uid := accountOf(os.Getuid(), string(mapped), string(login))
	u, err := user.LookupId(uid)
	if err != nil {
		return "uid " + uid + "@" + host, "", host
	}
	return u.Username + "@" + host, fmt.Sprintf("account of the operating system, uid %s", uid), host
}

// accountOf is the user id outside of a user namespace, which anybody can make and be root in; in none, the one that logged in, as the
// kernel keeps it for all that is started from there. "" where the namespace says of no account outside that it is this one.
func accountOf(uid int, mapped, login string) string {
	fields := strings.Fields(mapped)
	if mapped == "" || len(fields) == 3 && fields[0] == "0" && fields[1] == "0" && fields[2] == "4294967295" {
		return loginOr(strings.TrimSpace(login), strconv.Itoa(uid))
	}
	for ; len(fields) >= 3; fields = fields[3:] {
		inside, err1 := strconv.Atoi(fields[0])
		outside, err2 := strconv.Atoi(fields[1])
		length, err3 := strconv.Atoi(fields[2])
		if err1 == nil && err2 == nil && err3 == nil && uid >= inside && uid-inside < length {
			return strconv.Itoa(outside + uid - inside)
		}
	}
	return ""
}

// loginOr is the user who logged in; the other if nobody did.
func loginOr(login, other string) string {
	if n, err := strconv.ParseUint(login, 10, 32); err != nil || n == math.MaxUint32 {
		return other
	}
	return login
}
