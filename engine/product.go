package engine

import (
	"maps"
	"slices"
	"strings"
)

// families are the engines of the products, and of the engines themselves, by the names that people write.
var families = map[string]string{
	"mysql": "mysql", "mariadb": "mysql", "rds-mysql": "mysql", "cql": "cql", "cassandra": "cql", "scylladb": "cql", "singlestore": "singlestore",
}

// Family is the engine of a product by its name: mariadb is of mysql. "" if the name is of none.
func Family(product string) string { return families[product] }

// Products are the names that Family knows.
func Products() []string { return slices.Sorted(maps.Keys(families)) }

// Meant is the name to write for a product that goes by another: Percona Server and Aurora speak as MySQL does. "" if there is none.
func Meant(product string) string {
	return map[string]string{
		"percona": "mysql", "percona-server": "mysql", "aurora": "mysql", "aurora-mysql": "mysql", "rds": "mysql", "rds-mariadb": "mariadb", "galera": "mariadb", "scylla": "scylladb",
		"memsql": "singlestore",
	}[strings.ToLower(product)]
}
