package cloud

import "plimsoll/internal/document"

// metrics are those of CloudWatch that are read, and the names that cloudwatch_exporter gives them, so that dashboards in use go on
// working. What an instance does not have, such as a bucket, has no values.
var metrics = map[string]string{
	"CPUUtilization":      "aws_rds_cpuutilization_average",
	"CPUCreditBalance":    "aws_rds_cpucredit_balance_average",
	"DatabaseConnections": "aws_rds_database_connections_average",
	"FreeableMemory":      "aws_rds_freeable_memory_average",
	"SwapUsage":           "aws_rds_swap_usage_average",
	"FreeStorageSpace":    "aws_rds_free_storage_space_average",
	"FreeLocalStorage":    "aws_rds_free_local_storage_average",
	"ReadIOPS":            "aws_rds_read_iops_average",
	"WriteIOPS":           "aws_rds_write_iops_average",
	"ReadLatency":         "aws_rds_read_latency_average",
	"WriteLatency":        "aws_rds_write_latency_average",
	"ReadThroughput":      "aws_rds_read_throughput_average",
	"WriteThroughput":     "aws_rds_write_throughput_average",
	"DiskQueueDepth":      "aws_rds_disk_queue_depth_average",
	"BurstBalance":        "aws_rds_burst_balance_average",
	"EBSIOBalance%":       "aws_rds_ebsiobalance_percent_average",
	"EBSByteBalance%":     "aws_rds_ebsbyte_balance_percent_average",
	"ReplicaLag":          "aws_rds_replica_lag_average",
	"AuroraReplicaLag":    "aws_rds_aurora_replica_lag_average",
	"CommitLatency":       "aws_rds_commit_latency_average",
}

func metricNames() []string { return document.SortedKeys(metrics) }
