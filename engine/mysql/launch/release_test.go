package launch

import (
	"context"
	"errors"
	"os"
	"path"
	"strings"
	"testing"

	"plimsoll/engine"
	"plimsoll/engine/fetch"
	"plimsoll/infra"
)

// shelf is a machine of which only the answers of programs and the files matter here.
type shelf struct {
	infra.Machine
	answers map[string]string // by program
	files   map[string]string
}

func (s shelf) Run(_ context.Context, c infra.Command) (infra.Output, error) {
	answer, ok := s.answers[c.Path]
	if !ok {
		return infra.Output{}, infra.ErrNoProgram
	}
	return infra.Output{Stdout: []byte(answer)}, nil
}

func (s shelf) ReadFile(_ context.Context, name string) ([]byte, error) {
	if text, ok := s.files[name]; ok {
		return []byte(text), nil
	}
	return nil, os.ErrNotExist
}

const (
	mariadb10 = "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)\n" +
		"character-sets-dir                                           /usr/share/mysql/charsets/\n"
	mysql97 = "/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))\n"
)

func TestFind(t *testing.T) {
	onPath := shelf{answers: map[string]string{"/usr/sbin/mariadbd": mariadb10, "mysqld": mysql97}}
	cached := shelf{files: map[string]string{
		"/cache/mariadb-11.4/plimsoll.json":  `{"product": "mariadb", "version": "11.4", "exact": "11.4.5", "paths": {"server": "bin/mariadbd"}}`,
		"/cache/mariadb-10.11/plimsoll.json": `{"product": "mariadb", "version": "10.11", "exact": "10.11.6", "paths": {"server": "mariadbd"}}`,
	}}
	only10 := shelf{files: map[string]string{"/cache/mariadb-10.11/plimsoll.json": cached.files["/cache/mariadb-10.11/plimsoll.json"]}}
	both := shelf{answers: onPath.answers, files: cached.files}
	for name, c := range map[string]struct {
		on               shelf
		product, version string
		exact, server    string // "" when it is not installed
	}{
		"any MariaDB on PATH":            {onPath, "mariadb", "", "10.11.19", "/usr/sbin/mariadbd"},
		"its line":                       {onPath, "mariadb", "10.11", "10.11.19", "/usr/sbin/mariadbd"},
		"its exact version":              {onPath, "mariadb", "10.11.19", "10.11.19", "/usr/sbin/mariadbd"},
		"10.1 is not a line of 10.11":    {onPath, "mariadb", "10.1", "", ""},
		"another version":                {onPath, "mariadb", "11.4", "", ""},
		"MySQL":                          {onPath, "mysql", "", "9.7.4", "mysqld"},
		"in the cache":                   {cached, "mariadb", "11.4", "11.4.5", "/cache/mariadb-11.4/bin/mariadbd"},
		"the preferred one in the cache": {cached, "mariadb", "", "11.4.5", "/cache/mariadb-11.4/bin/mariadbd"},
		"another one in the cache does not decide": {only10, "mariadb", "", "", ""},
		"but is found when asked for":              {only10, "mariadb", "10.11.6", "10.11.6", "/cache/mariadb-10.11/mariadbd"},
		"PATH comes before the cache":              {both, "mariadb", "", "10.11.19", "/usr/sbin/mariadbd"},
		"the cache has what PATH has not":          {both, "mariadb", "11.4", "11.4.5", "/cache/mariadb-11.4/bin/mariadbd"},
		"nothing":                                  {shelf{}, "mysql", "9.7", "", ""},
	} {
		d, err := Servers{}.Find(t.Context(), c.on, engine.Release{Product: c.product, Version: c.version}, "/cache")
		if c.exact == "" {
			if !errors.Is(err, engine.ErrNotInstalled) {
				t.Errorf("%s: %+v, %v, want ErrNotInstalled", name, d, err)
			}
			continue
		}
		if err != nil || d.Exact != c.exact || d.Paths[serverPath] != c.server || d.Product != c.product {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
	d, err := Servers{}.Find(t.Context(), onPath, engine.Release{Product: "mariadb"}, "/cache")
	if err != nil || d.Version != "10.11" || d.Origin != "PATH" || d.Paths[sharePath] != "/usr/share/mysql" {
		t.Errorf("on PATH: %+v, %v", d, err)
	}
}

// A MySQL server that is a link to MariaDB's is not MySQL.
func TestFindTellsProductsApart(t *testing.T) {
	linked := shelf{answers: map[string]string{"/usr/sbin/mysqld": mariadb10}}
	if d, err := (Servers{}).Find(t.Context(), linked, engine.Release{Product: "mysql"}, "/cache"); !errors.Is(err, engine.ErrNotInstalled) {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err := (Servers{}).Find(t.Context(), linked, engine.Release{Product: "mariadb"}, "/cache"); err != nil || d.Exact != "10.11.19" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestFindComplainsOfBrokenCache(t *testing.T) {
	broken := shelf{files: map[string]string{path.Join("/cache", "mysql-9.7", fetch.Manifest): "{"}}
	_, err := Servers{}.Find(t.Context(), broken, engine.Release{Product: "mysql"}, "/cache")
	if err == nil || errors.Is(err, engine.ErrNotInstalled) || !strings.Contains(err.Error(), "/cache/mysql-9.7") {
		t.Errorf("%v", err)
	}
}
