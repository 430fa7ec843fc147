package mysql

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/action"
	"plimsoll/engine/mysql/admin"
)

// ApprovalReason names what a crash can lose once the variable has its new value, or once it has it after a restart.
//
// MySQL 9.7 reference manual and MariaDB's server documentation, under the variables' names.
func (v *variable) ApprovalReason(f action.CheckResult) string {
	degree, loss := weakness(variableName(v.Name), v.Value)
	more := func(fact string) bool {
		before, known := f.Observed[fact].(string)
		if !known || before == notKept { // for after a restart, only the option file knows what would hold instead
			return degree > 0
		}
		had, _ := weakness(variableName(v.Name), before)
		return degree > had
	}
	switch name := variableName(v.Name); {
	case v.now() && (name == "read_only" || name == "super_read_only") && isOn(v.Value) && !isOn(fmt.Sprint(f.Observed["value"])):
		return v.Name + " = " + v.Value + " stops the writes of the clients of this server"
	case v.now() && more("value"):
		return fmt.Sprintf("%s = %s weakens durability: %s", v.Name, v.Value, loss)
	case v.later() && more("persisted"):
		return fmt.Sprintf("%s = %s weakens durability from the next restart on: %s", v.Name, v.Value, loss)
	}
	return ""
}

// variableName is the variable behind an option's name, as a setting is changed by it: with - for _, with loose_ before it.
func variableName(name string) string {
	return strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(name, "-", "_")), "loose_")
}

// weakness says what a value gives up, and a degree by which values of one variable compare: 0 is nothing. Servers bring a
// number that is out of range to the nearest that is not.
func weakness(name, value string) (degree int64, loss string) {
	if k, known := ofNumber[name]; known {
		if n, is := admin.Size(value); is {
			return k(n)
		}
		return 0, "" // which the server refuses
	}
	if k, known := ofText[name]; known && !k.safe(value) {
		return 1, k.loss
	}
	return 0, ""
}

// ofNumber judges the variables that are numbers.
var ofNumber = map[string]func(n int64) (int64, string){
	"innodb_flush_log_at_trx_commit": flushLog,
	"rocksdb_flush_log_at_trx_commit": func(n int64) (int64, string) {
		if n == 1 {
			return 0, ""
		}
		return 1, "acknowledged commits of the last second, or more, can be lost when the host crashes or loses power"
	},
	"sync_binlog": func(n int64) (int64, string) {
		switch {
		case n == 1:
			return 0, ""
		case n < 1:
			return math.MaxInt64, "the operating system decides when the binary log is written to disk: after a crash of the host it can lack any number of acknowledged commits, and replicas can differ from the source"
		}
		return n, "after a crash of the host the binary log can lack up to " + strconv.FormatInt(n, 10) + " groups of acknowledged commits, and replicas can differ from the source"
	},
	"innodb_flush_log_at_timeout": func(n int64) (int64, string) {
		if n <= 1 {
			return 0, ""
		}
		return n, "with innodb_flush_log_at_trx_commit 0 or 2, up to " + strconv.FormatInt(n, 10) + " s of acknowledged commits can be lost"
	},
	"sync_relay_log":                              unsynced,
	"sync_master_info":                            unsynced,
	"sync_source_info":                            unsynced,
	"sync_relay_log_info":                         unsynced,
	"rpl_semi_sync_master_timeout":                patience,
	"rpl_semi_sync_source_timeout":                patience,
	"rpl_semi_sync_master_wait_for_slave_count":   witnesses,
	"rpl_semi_sync_source_wait_for_replica_count": witnesses,
}

// flushLog: 3 loses nothing in MariaDB; where there is none, the check refuses it.
func flushLog(n int64) (int64, string) {
	switch {
	case n == 1 || n == 3:
		return 0, ""
	case n < 1:
		return 2, "up to innodb_flush_log_at_timeout (1 s) of acknowledged commits can be lost when the server process or its host crashes"
	}
	return 1, "up to innodb_flush_log_at_timeout (1 s) of acknowledged commits can be lost when the host crashes or loses power; not when the server process alone does"
}

func unsynced(n int64) (int64, string) {
	if n > 0 {
		return 0, ""
	}
	return 1, "after a crash of the host you may have to rebuild the replica"
}

// patience: the shorter, the weaker.
func patience(n int64) (int64, string) {
	n = max(n, 0)
	return math.MaxInt64 - n, "a source that hears from no replica for " + strconv.FormatInt(n, 10) + " ms continues alone: commits that it acknowledges from then on are lost if the source is lost before a replica has caught up"
}

// witnesses: the fewer, the weaker.
func witnesses(n int64) (int64, string) {
	n = max(n, 1)
	return math.MaxInt64 - n, "a commit is acknowledged when " + strconv.FormatInt(n, 10) + " of the replicas has it: it is lost if the source and these replicas are lost"
}

// choice is a variable of which some values lose nothing.
type choice struct {
	safe func(value string) bool
	loss string
}

const alone = "commits are acknowledged although no replica has them: everything that the replicas lag behind is lost if the source is lost"

// ofText judges the variables that are switches or words. A word can be given by its number.
var ofText = map[string]choice{
	"innodb_doublewrite": {oneOf("on", "true", "1", "detect_and_recover", "3"), // not MySQL's detect_only and MariaDB's fast, which both are 2
		"a page that is half written when the host crashes cannot be repaired: the whole data set may have to be restored"},
	"innodb_flush_method": {exceptFor("littlesync", "2", "nosync", "3", "o_direct_no_fsync", "5"),
		"not all writes are synced: after a crash of the host, data of any age can be lost and the data set can be unusable"},
	"innodb_support_xa": {isOn, "after a crash the server and its binary log can disagree"},
	"binlog_error_action": {exceptFor("ignore_error", "0"),
		"a server that cannot write its binary log continues without it: all commits from then on are missing in replicas and in restores"},
	"relay_log_recovery": {isOn, "after a crash of the host the replica continues from a relay log that may be torn, and you may have to rebuild it"},
	"relay_log_info_repository": {oneOf("table", "1"),
		"after a crash the replica can repeat or miss changes, and you may have to rebuild it"},
	"rpl_semi_sync_master_enabled":         {isOn, alone},
	"rpl_semi_sync_source_enabled":         {isOn, alone},
	"rpl_semi_sync_slave_enabled":          {isOn, "the source no longer waits for this replica; where it was the last, " + alone},
	"rpl_semi_sync_replica_enabled":        {isOn, "the source no longer waits for this replica; where it was the last, " + alone},
	"rpl_semi_sync_master_wait_no_slave":   {isOn, "while too few replicas are connected, " + alone},
	"rpl_semi_sync_source_wait_no_replica": {isOn, "while too few replicas are connected, " + alone},
	"rpl_semi_sync_master_wait_point":      {oneOf("after_sync", "0"), lateWait},
	"rpl_semi_sync_source_wait_point":      {oneOf("after_sync", "0"), lateWait},
}

const lateWait = "other sessions see a commit before a replica has it: if the source is lost, the commit is lost, but what they did because of it is not undone"

func oneOf(words ...string) func(string) bool {
	return func(value string) bool {
		value = strings.ToLower(value)
		if n, is := admin.Size(value); is { // 00 and 0K
			value = strconv.FormatInt(n, 10)
		}
		return slices.Contains(words, value)
	}
}

func exceptFor(words ...string) func(string) bool {
	weak := oneOf(words...)
	return func(value string) bool { return !weak(value) }
}

var isOn = exceptFor("off", "false", "no", "0")
