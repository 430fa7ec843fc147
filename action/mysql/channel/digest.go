package channel

import (
	"strings"

	"plimsoll/engine/mysql/admin"
)

// textOf is the expression that makes one text of a row, the same for two rows if and only if they are alike.
//
// Texts and bytes stand as hexadecimal digits of what is stored, so that neither character set nor collation plays a part, and
// no value can look like another's separator; what can be long is hashed, because a server makes NULL of what is longer than
// max_allowed_packet. Floating point is widened: as it stands it would be rounded when it is shown.
func textOf(columns []column) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = "IFNULL(" + c.comparable() + ", 'N')"
	}
	return "CONCAT_WS(',', " + strings.Join(parts, ", ") + ")"
}

func (c column) comparable() string {
	quoted := admin.Name(c.name)
	switch c.kind {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year", "date", "time", "datetime", "timestamp", "double":
		return quoted
	case "float":
		return quoted + " + 0e0"
	case "bit":
		return quoted + " + 0"
	case "json":
		return "SHA2(CAST(" + quoted + " AS CHAR), 256)"
	case "char", "varchar", "binary", "varbinary", "enum", "set", "uuid", "inet4", "inet6":
		return "HEX(" + quoted + ")"
	}
	return "SHA2(" + quoted + ", 256)"
}

// hashOf is a row's text as 64 hexadecimal digits. (MySQL 9 has no MD5 of its own any more.)
func hashOf(columns []column) string { return "SHA2(" + textOf(columns) + ", 256)" }

// aggregateOf makes one row of a range: how many rows, and two numbers of their hashes that no order changes. What stands
// twice cancels in the first and not in the second.
func aggregateOf(columns []column) string {
	part := func(from, digits string) string {
		return "CAST(CONV(SUBSTR(" + hashOf(columns) + ", " + from + ", " + digits + "), 16, 10) AS UNSIGNED)"
	}
	return "COUNT(*), IFNULL(BIT_XOR(" + part("1", "16") + "), 0), IFNULL(SUM(" + part("17", "8") + "), 0)"
}
