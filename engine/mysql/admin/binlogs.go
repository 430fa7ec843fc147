package admin

import "strconv"

// BinaryLogs is a query for the binary logs that a server has, each with its size, the oldest first.
const BinaryLogs = "SHOW BINARY LOGS"

// BinlogEvents is a query for a number of events of a binary log, from a place on: Server_id is of the server that executed them first,
// End_log_pos where the next one begins, and Info what they are, such as table_id: 95 (shop.orders) of a Table_map.
func BinlogEvents(from Place, limit int) string {
	return "SHOW BINLOG EVENTS IN " + Text(from.File) + " FROM " + from.At + " LIMIT " + strconv.Itoa(limit)
}

// WriteNothing writes a transaction to the binary log that changes nothing.
const WriteNothing = "FLUSH STATUS"

// PositionAt is a query for MariaDB's GTIDs of a place in its binary log.
func PositionAt(p Place) string { return "SELECT BINLOG_GTID_POS(" + Text(p.File) + ", " + p.At + ")" }
