package admin

// BinaryLogs is a query for the binary logs that a server has, each with its size, the oldest first.
const BinaryLogs = "SHOW BINARY LOGS"

// WriteNothing writes a transaction to the binary log that changes nothing.
const WriteNothing = "FLUSH STATUS"

// PositionAt is a query for MariaDB's GTIDs of a place in its binary log.
func PositionAt(p Place) string { return "SELECT BINLOG_GTID_POS(" + Text(p.File) + ", " + p.At + ")" }
