package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

// grants are what an account may do: privileges by where they hold, as SHOW GRANTS writes both.
type grants struct {
	account string              // 'app'@'%'
	at      map[string][]string // by *.*, `shop`.*, `shop`.`orders`
	revoked map[string][]string // MySQL can take away from single databases what *.* grants
}

// grants asks for those of the session's account, with what its roles give it.
func (c *control) grants(ctx context.Context) (grants, error) {
	g := grants{at: map[string][]string{}, revoked: map[string][]string{}}
	err := c.use(ctx, func(s *session) error {
		one := func(text string) ([]string, error) {
			r := engine.Result{Keep: true}
			err := s.Exec(ctx, text, &r)
			var lines []string
			for row := range r.Rows {
				lines = append(lines, shown(r.At(row, 0)))
			}
			return lines, err
		}
		who, err := one("SELECT CURRENT_USER()")
		if err != nil {
			return err
		}
		if len(who) == 0 { // sql_select_limit = 0 gives sessions no rows
			return errors.New("the server answers SELECT CURRENT_USER() with no row")
		}
		g.account = accountName(who[0])
		text := "SHOW GRANTS"
		// MariaDB shows what the role in use gives; MySQL only if it is named. Servers without roles do not know the function.
		if roles, err := one("SELECT CURRENT_ROLE()"); err == nil && len(roles) == 1 && strings.HasPrefix(roles[0], "`") {
			text = "SHOW GRANTS FOR CURRENT_USER() USING " + roles[0]
		}
		lines, err := one(text)
		for _, line := range lines {
			g.add(line)
		}
		return err
	})
	if err != nil {
		return g, fmt.Errorf("read the grants of the account: %w", err)
	}
	return g, nil
}

// accountName writes app@% as statements take it.
func accountName(who string) string {
	at := strings.LastIndexByte(who, '@')
	if at < 0 {
		return admin.Text(who)
	}
	return admin.Text(who[:at]) + "@" + admin.Text(who[at+1:])
}

// add reads a line of SHOW GRANTS: GRANT SELECT, INSERT (a, b) ON `shop`.* TO …, or REVOKE … ON … FROM …. Lines that grant a role or a
// proxy hold no privileges.
func (g *grants) add(line string) {
	into := g.at
	rest, is := strings.CutPrefix(line, "GRANT ")
	if !is {
		if rest, is = strings.CutPrefix(line, "REVOKE "); !is {
			return
		}
		into = g.revoked
	}
	parts := outside(rest, " ON ")
	if len(parts) < 2 {
		return
	}
	object := parts[1]
	for _, end := range []string{" TO ", " FROM "} {
		object = outside(object, end)[0]
	}
	object = strings.TrimSpace(strings.TrimPrefix(object, "TABLE "))
	for _, privilege := range outside(parts[0], ",") {
		if privilege = strings.TrimSpace(privilege); !strings.HasSuffix(privilege, ")") { // one of some columns is not the privilege
			into[object] = append(into[object], strings.ToUpper(privilege))
		}
	}
}

// outside splits a text where a separator stands neither in quotes nor in parentheses.
func outside(text, separator string) []string {
	var parts []string
	var quoted byte
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '`' || c == '\'' || c == '"':
			quoted = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], separator):
			parts = append(parts, text[from:i])
			from = i + len(separator)
			i = from - 1
		}
	}
	return append(parts, text[from:])
}

// everywhere is where a privilege of the whole server is granted.
const everywhere = "*.*"

// has tells whether a privilege holds for a database, or everywhere.
func (g *grants) has(privilege, namespace string) bool {
	holds := func(all []string) bool {
		return slices.Contains(all, privilege) || slices.Contains(all, "ALL PRIVILEGES") && privilege != "GRANT OPTION"
	}
	if namespace == "" {
		return holds(g.at[everywhere])
	}
	own := within(namespace)
	if holds(g.at[everywhere]) && !holds(g.revoked[own]) {
		return true
	}
	for object, all := range g.at {
		if holds(all) && covers(object, namespace) {
			return true
		}
	}
	return false
}

func within(namespace string) string { return admin.Name(namespace) + ".*" }

// covers tells whether an object of a grant is a whole database, by its name or by a pattern with % and _.
func covers(object, namespace string) bool {
	name, whole := strings.CutSuffix(object, ".*")
	if !whole || name == "*" {
		return false
	}
	name = strings.ReplaceAll(strings.Trim(name, "`"), "``", "`")
	return name == namespace || like(name, namespace)
}

// like matches a pattern of LIKE, in which a backslash takes the next character as it is.
func like(pattern, text string) bool {
	if pattern == "" {
		return text == ""
	}
	switch c := pattern[0]; {
	case c == '%':
		return like(pattern[1:], text) || text != "" && like(pattern, text[1:])
	case c == '\\' && len(pattern) > 1:
		return text != "" && text[0] == pattern[1] && like(pattern[2:], text[1:])
	case text == "":
		return false
	case c == '_' || c == text[0]:
		return like(pattern[1:], text[1:])
	}
	return false
}
