package mysql

import (
	"math"
	"strconv"
	"strings"

	"plimsoll/runbook/action"
)

// Caution names what a crash can lose once the variable has its new value.
//
// MySQL 8.4 reference manual, innodb_flush_log_at_trx_commit and sync_binlog; MariaDB's pages of the same names.
func (v *variable) Caution(f action.Finding) string {
	name := strings.ToLower(strings.ReplaceAll(v.Name, "-", "_"))
	before, _ := f.Observed["value"].(string)
	loss := loses(name, v.Value)
	if loss == "" || before != "" && !weaker(name, v.Value, before) {
		return ""
	}
	return "it weakens durability: " + loss
}

// weaker tells whether a value gives up more than the one before.
func weaker(name, value, before string) bool {
	a, errA := strconv.Atoi(value)
	b, errB := strconv.Atoi(before)
	if errA != nil || errB != nil {
		return loses(name, value) != loses(name, before)
	}
	rank := func(n int) int { return n }
	switch name {
	case "innodb_flush_log_at_trx_commit": // 0 is the weakest, then 2; 1 and 3 lose nothing
		rank = func(n int) int { return map[int]int{0: 2, 2: 1}[n] }
	case "sync_binlog": // 0 is when the operating system likes
		rank = func(n int) int {
			if n == 0 {
				return math.MaxInt
			}
			return n
		}
	case "sync_relay_log", "sync_master_info", "sync_relay_log_info":
		rank = func(n int) int { return -min(n, 1) }
	}
	return rank(a) > rank(b)
}

// loses says what a value gives up; empty: nothing.
func loses(name, value string) string {
	off := map[string]bool{"0": true, "off": true, "false": true}[strings.ToLower(value)]
	switch name {
	case "innodb_flush_log_at_trx_commit":
		switch value {
		case "0":
			return "up to innodb_flush_log_at_timeout (1 s) of acknowledged commits can be lost when the server process or its host crashes"
		case "2":
			return "up to innodb_flush_log_at_timeout (1 s) of acknowledged commits can be lost when the host crashes or loses power; not when the server process alone does"
		case "3":
			return ""
		}
	case "sync_binlog":
		switch n, err := strconv.Atoi(value); {
		case err == nil && n == 0:
			return "the binary log is written to disk when the operating system likes: after a crash of the host it can lack any number of acknowledged commits, and replicas can differ from the source"
		case err == nil && n > 1:
			return "after a crash of the host the binary log can lack up to " + value + " groups of acknowledged commits, and replicas can differ from the source"
		}
	case "innodb_doublewrite":
		if off || strings.EqualFold(value, "detect_only") {
			return "a page that is half written when the host crashes cannot be repaired: the whole data set may have to be restored"
		}
	case "innodb_flush_log_at_timeout":
		if n, err := strconv.Atoi(value); err == nil && n > 1 {
			return "with innodb_flush_log_at_trx_commit 0 or 2, up to " + value + " s of acknowledged commits can be lost"
		}
	case "sync_relay_log", "sync_master_info", "sync_relay_log_info":
		if value == "0" {
			return "after a crash of the host the replica can have to be built anew"
		}
	case "innodb_support_xa", "innodb_redo_log_enabled":
		if off {
			return "after a crash the server and its binary log can disagree, or the data set be unusable"
		}
	}
	return ""
}
