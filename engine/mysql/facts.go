package mysql

import (
	"context"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// details are the variables that are part of a server's facts, as far as it has them.
var details = []string{
	"version", "version_comment", "version_compile_machine", "version_compile_os", "default_storage_engine", "aurora_version",
}

func (d *database) Facts(ctx context.Context) (engine.Facts, error) {
	shown, err := d.shown(ctx, admin.Variables(details...))
	if err != nil {
		return engine.Facts{}, err
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(shown["version"], "5.5.5-"), "-")
	return engine.Facts{Product: product(shown), Version: version, Details: shown}, nil
}

// product tells by name what answers.
func product(shown map[string]string) string {
	switch {
	case shown["aurora_version"] != "":
		return "Aurora MySQL"
	case strings.Contains(shown["version"], "MariaDB"):
		return "MariaDB"
	case strings.Contains(shown["version_comment"], "Percona"):
		return "Percona Server"
	}
	return "MySQL"
}

// shown are the names and values that a query shows, of admin.Variables or admin.Status.
func (c *control) shown(ctx context.Context, text string) (map[string]string, error) {
	r := engine.Result{Keep: true}
	if err := c.use(ctx, func(s *session) error { return s.Exec(ctx, text, &r) }); err != nil {
		return nil, err
	}
	return pairs(&r), nil
}

// pairs are the rows of two columns as names and values.
func pairs(r *engine.Result) map[string]string {
	m := make(map[string]string, r.Rows)
	for row := range r.Rows {
		m[string(r.At(row, 0).Data)] = string(r.At(row, 1).Data)
	}
	return m
}
