package collect

import "strings"

// onRDS tells by a server's variables whether it runs on RDS or Aurora, where parameter groups set what SET GLOBAL sets elsewhere.
func onRDS(shown map[string]string) bool {
	return shown["aurora_version"] != "" || strings.Contains(shown["basedir"], "rdsdbbin")
}

// product is what a server calls itself. It is for people: nothing is decided by it.
func product(shown map[string]string) (name, version string) {
	version, _, _ = strings.Cut(strings.TrimPrefix(shown["version"], "5.5.5-"), "-")
	switch {
	case shown["aurora_version"] != "":
		return "Aurora MySQL", version
	case strings.Contains(shown["version"], "MariaDB"):
		return "MariaDB", version
	case strings.Contains(shown["version_comment"], "Percona"):
		return "Percona Server", version
	}
	return "MySQL", version
}
