package record

import (
	"regexp"
	"strings"
)

// masked stands for a text that is on no list.
const masked = "masked"

// Each field that is kept has a form that only AWS's own values have. What has another is masked: a list of names alone would keep
// whatever somebody manages to put there. Where AWS chooses among words, they are listed (vocabulary.go).
var (
	count     = regexp.MustCompile(`^[0-9]{1,9}$`)
	yesNo     = regexp.MustCompile(`^(?i:true|false)$`)
	class     = regexp.MustCompile(`^((db|cache)\.)?[a-z]{1,3}[0-9]{1,2}[a-z]{0,4}(-flex|-tb)?\.(nano|micro|small|medium|large|([0-9]{1,2})?xlarge|metal)$`)
	version   = regexp.MustCompile(`^[0-9]{1,8}([.-][0-9]{1,4}|\.mysql_aurora|\.rds|-MariaDB){0,8}$`)
	errorCode = regexp.MustCompile(`^[A-Z][A-Za-z]{2,40}(\.[A-Z][A-Za-z]{2,40})?$`)
	mime      = regexp.MustCompile(`^(text/xml|application/(xml|json|x-amz-json-1\.[01]))(; ?charset=(utf|UTF)-8)?$`)
	variable  = regexp.MustCompile(`^[a-z][a-z_]{1,40}([0-9]{1,3}[a-z_]{0,40})?$`)
	metric    = regexp.MustCompile(`^(AWS/)?[A-Z][A-Za-z]{2,39}$`)
	moment    = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})|[0-9]{1,11}(\.[0-9]{1,9})?(E9)?)$`)
	query     = regexp.MustCompile(`^m[0-9]{1,3}$`)
	ownTag    = regexp.MustCompile(`^plimsoll:(token|clone|delete-after)$`)
	price     = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,12})?$`)
)

// kept are the fields whose values AWS or Plimsoll has chosen, in small letters.
var kept = map[string]form{
	// what is to be done
	"version": version, "applyimmediately": yesNo, "skipfinalsnapshot": yesNo, "deleteautomatedbackups": yesNo, "forcefailover": yesNo, "deletetarget": yesNo,
	"switchovertimeout": count, "restoretype": word, "sourcetype": word, "applymethod": word, "maxrecords": count, "dryrun": yesNo, "force": yesNo, "resourcetype": word,
	// how something is
	"dbinstanceclass": class, "targetdbinstanceclass": class, "engine": engine, "engineversion": version, "targetengineversion": version,
	"dbinstancestatus": state, "status": state, "parameterapplystatus": state, "state": state, "statuscode": state, "modificationstate": state,
	"storagetype": storage, "allocatedstorage": count, "iops": count, "storagethroughput": count, "multiaz": yesNo, "promotiontier": count, "port": count,
	"volumetype": storage, "size": count, "throughput": count, "deleteontermination": yesNo, "encrypted": yesNo, "instancetype": class, "progress": count, "code": errorCode, "type": word,
	"isclusterwriter": yesNo, "deletionprotection": yesNo, "endpointtype": word, "customendpointtype": word, "eventcategories": category, "eventcategory": category,
	"parametername": variable, "applytype": word, "datatype": word, "ismodifiable": yesNo, "__type": errorCode, "return": yesNo,
	// metrics and prices
	"namespace": metric, "metricname": metric, "stat": word, "period": count, "periodinseconds": count, "starttime": moment, "endtime": moment, "timestamps": moment, "timestamp": moment,
	"date": moment, "id": query, "metric": dimension, "group": dimension, "servicetype": word, "limit": count, "publicationdate": moment, "name": dimension, "key": ownTag,
	"servicecode": service, "formatversion": regexp.MustCompile(`^aws_v1$`), "unit": unit, "usd": price, "beginrange": count, "field": attribute, "productfamily": family,
}

// named are the fields that say which thing is meant, in small letters: they get stand-ins.
var named = func(all ...string) map[string]bool {
	set := map[string]bool{}
	for _, one := range all {
		set[strings.ToLower(one)] = true
	}
	return set
}("DBInstanceIdentifier", "DBInstanceArn", "DbiResourceId", "DBClusterIdentifier", "DBClusterArn", "DbClusterResourceId", "CloneGroupId", "SourceDBInstanceIdentifier", "SourceDBClusterIdentifier",
	"TargetDBInstanceIdentifier", "NewDBInstanceIdentifier", "FinalDBSnapshotIdentifier", "ReadReplicaSourceDBInstanceIdentifier", "ReadReplicaDBInstanceIdentifier", "ReadReplicaDBInstanceIdentifiers",
	"DBParameterGroupName", "DBClusterParameterGroup", "ParameterValue", "SourceIdentifier", "BlueGreenDeploymentIdentifier", "BlueGreenDeploymentName", "Source", "Target", "SourceMember", "TargetMember",
	"DBClusterEndpointIdentifier", "StaticMembers", "ExcludedMembers", "Address", "Endpoint", "ReaderEndpoint", "AvailabilityZone", "Value", "Key", "Identifier",
	"Name", "VolumeId", "InstanceId", "Device", "ClientToken", "SnapshotId", "RegionCode")

// fieldOf is the name of what a path leads to: numbers and the names of a list's members say nothing.
func fieldOf(path []string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if p := path[i]; p != "" && p != "member" && p != "item" && !count.MatchString(p) {
			return strings.ToLower(p)
		}
	}
	return ""
}

// tellingParts are in no value that AWS chose: addresses of people and machines, ARNs, account numbers, keys and tokens.
var tellingParts = regexp.MustCompile(`@|(?i:arn:)|[0-9]{12}|\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{8,}|\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b|eyJ|://`)

func telling(value string) bool { return tellingParts.MatchString(value) }

// value is what is written in place of a text.
func (s standIns) value(field, value string) string {
	switch form := kept[field]; {
	case value == "":
		return ""
	case form == moment && moment.MatchString(value):
		return value // a long number of seconds is no account
	case form != nil && form.MatchString(value) && !telling(value):
		return value
	case field == "name" && state.MatchString(value): // EC2 has <instanceState><name>
		return value
	case named[field]:
		return s.of(value)
	case yesNo.MatchString(value):
		return "false"
	case strings.Contains(value, "T") && moment.MatchString(value):
		return "2000-01-01T00:00:00Z"
	case price.MatchString(value):
		return "0"
	}
	return masked
}

// Names of fields are AWS's, but for those in a person's map. Elements of XML and parameters have letters alone. JSON, in which a map and
// an object look the same, has only those that are listed.
var (
	element   = regexp.MustCompile(`^[A-Za-z]{1,60}$`)
	parameter = compiledLate(func() string { return `^[A-Z][A-Za-z]{0,59}(\.([A-Za-z]{1,60}|[0-9]{1,4})){0,12}$` })
)

// key is what is written in place of a field's own name of some form.
func (s standIns) key(name string, of form) string {
	if name == "" || of.MatchString(name) && !telling(name) {
		return name
	}
	return s.of(name)
}
