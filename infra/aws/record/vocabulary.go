package record

import (
	"regexp"
	"strings"
	"sync"
)

// Where AWS chooses among words, a value is kept if it is made of words that are listed here. A state that is new next year is kept as far
// as its words are known, and masked otherwise.

// state is what a thing may be. The words are those of the documented states of instances, clusters, deployments, endpoints, volumes and
// parameters (Amazon RDS User Guide and Aurora User Guide, "Viewing DB instance status"; EC2 API Reference).
var state = phrase(`active adding applying attached attaching available backing backtracking bucket busy cancelled capacity change changes cloning complete completed configuring converting copying
	creating credentials database deleted deleting deprecated detached detaching disabled enabled encryption enhanced error failed failing full group iam in inaccessible inactive incompatible incremental
	initialization initializing insufficient internal invalid key log maintenance master migrating migration modifying monitoring moving network none not ok on optimization optimizing option over
	parameters partialdata pending preparing progress promoting provisioned provisioning proxy ready reboot rebooting renaming resetting restarting restore restored restoring running scaling security
	shutting down starting started stopped stopping storage success switching switchover sync terminated to under unavailable update updated upgrade upgrading up use volume vpc waiting warning with`)

var (
	engine  = oneOf(`mysql mariadb aurora aurora-mysql aurora-postgresql postgres`)
	storage = oneOf(`standard gp2 gp3 io1 io2 st1 sc1 magnetic aurora aurora-iopt1`)
	word    = oneOf(`Average Maximum Minimum Sum SampleCount Sender Receiver RDS string integer float boolean list immediate pending-reboot static dynamic copy-on-write full-copy db-instance db-cluster
		db-parameter-group db-security-group db-snapshot READER WRITER CUSTOM ANY CLUSTER TERM_MATCH instance volume`)
	category  = oneOf("availability", "backup", "configuration change", "creation", "deletion", "failover", "failure", "low storage", "maintenance", "notification", "patching", "recovery", "restoration", "security")
	dimension = oneOf(`DBInstanceIdentifier DBClusterIdentifier DatabaseClass EngineName db-instance-id db-cluster-id db-cluster-endpoint-type blue-green-deployment-name blue-green-deployment-identifier
		db.load.avg db.wait_event db.wait_event.name db.wait_event.type volume-id instance-id instance-state-name status tag:plimsoll:token tag:plimsoll:clone tag:plimsoll:delete-after`)
	service   = oneOf(`AmazonRDS AmazonEC2 AmazonElastiCache`)
	unit      = oneOf(`Hrs Hours GB-Mo GB-month IOPS-Mo IOs MBPS-Mo MiBps-Mo GiBps-mo Quantity vCPU-Hours ACU-Hr`)
	attribute = oneOf(attributes)
	family    = oneOf("Database Instance", "Database Storage", "Provisioned IOPS", "Provisioned Throughput", "System Operation", "Storage", "Cache Instance", "Compute Instance")
)

// attributes are those of the entries of the Price List.
const attributes = `productFamily regionCode databaseEngine deploymentOption instanceType instanceFamily licenseModel location locationType memory vcpu volumeType volumeApiName storage storageMedia
		operation usagetype group groupDescription termType currentGeneration cacheEngine engineCode servicecode servicename maxIopsvolume maxThroughputvolume maxVolumeSize networkPerformance tenancy`

// jsonName has the names of fields in JSON: of Performance Insights and of the Price List, whose own attributes are among them.
var jsonName = oneOf(`AlignedEndTime AlignedStartTime DataPoints Dimensions Identifier Key Metric MetricList MetricQueries NextToken Timestamp Value StartTime EndTime PeriodInSeconds ServiceType GroupBy Group
	Limit MaxResults __type Message message member db.wait_event.name db.wait_event.type PriceList FormatVersion ServiceCode Filters Type Field product attributes sku serviceCode version publicationDate terms OnDemand Reserved
	priceDimensions offerTermCode effectiveDate termAttributes rateCode unit beginRange endRange description appliesTo pricePerUnit USD ` + attributes)

// form is what a value, or the name of a field, looks like.
type form interface{ MatchString(text string) bool }

// late is an expression that is compiled when it is first asked: some take a thousand states, and every start of the program would make them.
type late func() *regexp.Regexp

func (l late) MatchString(text string) bool { return l().MatchString(text) }

func compiledLate(expression func() string) form {
	return late(sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression()) }))
}

// oneOf are words, which a space divides; phrases that have spaces of their own are given one by one.
func oneOf(texts ...string) form {
	return compiledLate(func() string {
		if len(texts) == 1 {
			texts = strings.Fields(texts[0])
		}
		for i, t := range texts {
			texts[i] = regexp.QuoteMeta(t)
		}
		return "^(?:" + strings.Join(texts, "|") + ")$"
	})
}

// phrase are words in any case and order, with something between them.
func phrase(words string) form {
	return compiledLate(func() string {
		one := "(?i:" + strings.Join(strings.Fields(words), "|") + ")"
		return "^" + one + "(?:[-_ ]?" + one + "){0,6}$"
	})
}
