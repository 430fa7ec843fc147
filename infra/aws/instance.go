package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// Instance is a DB instance as the API shows it, which may be later than what is.
type Instance struct {
	ID         string  `json:"id"`
	ARN        string  `json:"arn"`
	ResourceID string  `json:"resource_id"` // by which Performance Insights knows it
	Class      string  `json:"class"`
	Engine     string  `json:"engine"` // mysql, mariadb, aurora-mysql
	Version    string  `json:"version"`
	Status     string  `json:"status"`
	Storage    Storage `json:"storage"`
	MultiAZ    bool    `json:"multi_az"`
	Zone       string  `json:"zone"`
	Endpoint   string  `json:"endpoint"` // host:port; "" while it has none

	ParameterGroup  string `json:"parameter_group"`
	ParameterStatus string `json:"parameter_status"` // in-sync, applying, pending-reboot

	Source   string   `json:"source,omitempty"`   // of a read replica
	Replicas []string `json:"replicas,omitempty"` // that follow it
	Cluster  string   `json:"cluster,omitempty"`  // of Aurora
	Tier     int      `json:"tier,omitempty"`     // of a member of it: see SetTier

	Pending map[string]string `json:"pending,omitempty"` // values that were accepted and are not in force yet, by the API's names
	Tags    map[string]string `json:"tags,omitempty"`
	Created time.Time         `json:"created"`
}

// Storage is the volume of an instance.
type Storage struct {
	Type       string `json:"type"` // gp2, gp3, io1, io2
	GiB        int    `json:"gib"`
	IOPS       int    `json:"iops,omitempty"`       // provisioned
	Throughput int    `json:"throughput,omitempty"` // provisioned, MiB/s
}

// Settled tells whether an instance serves and nothing is being done to it. After a volume has changed, AWS goes on optimising it for
// hours, in which it serves.
func (i Instance) Settled() bool {
	return i.Status == "available" || i.Status == "storage-optimization"
}

// stuck are the states that only a person can end.
var stuck = []string{"failed", "storage-full", "insufficient-capacity", "inaccessible-encryption-credentials", "restore-error",
	"incompatible-network", "incompatible-option-group", "incompatible-parameters", "incompatible-restore", "incompatible-credentials"}

// Stuck tells whether an instance waits for a person.
func (i Instance) Stuck() bool { return slices.Contains(stuck, i.Status) }

// Instance returns one instance; ErrNotFound if there is none of that name.
func (r *RDS) Instance(ctx context.Context, id string) (Instance, error) {
	out, err := r.client.DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{DBInstanceIdentifier: &id})
	if err != nil {
		return Instance{}, explain("DescribeDBInstances", err)
	}
	if len(out.DBInstances) != 1 {
		return Instance{}, fmt.Errorf("instance %s: %w", id, ErrNotFound)
	}
	return instanceOf(out.DBInstances[0]), nil
}

// Instances returns all instances of the region that carry all of the tags.
func (r *RDS) Instances(ctx context.Context, tags map[string]string) ([]Instance, error) {
	return r.instances(ctx, &rds.DescribeDBInstancesInput{}, tags)
}

// Members returns the instances of a cluster of Aurora, those too that are only being created.
func (r *RDS) Members(ctx context.Context, cluster string) ([]Instance, error) {
	return r.instances(ctx, &rds.DescribeDBInstancesInput{Filters: []types.Filter{{Name: sdk.String("db-cluster-id"), Values: []string{cluster}}}}, nil)
}

func (r *RDS) instances(ctx context.Context, in *rds.DescribeDBInstancesInput, tags map[string]string) ([]Instance, error) {
	var all []Instance
	pages := rds.NewDescribeDBInstancesPaginator(r.client, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain("DescribeDBInstances", err)
		}
		for _, one := range page.DBInstances {
			if i := instanceOf(one); carries(i.Tags, tags) {
				all = append(all, i)
			}
		}
	}
	return all, nil
}

func carries(has, wanted map[string]string) bool {
	for key, value := range wanted {
		if got, there := has[key]; !there || value != "" && got != value {
			return false
		}
	}
	return true
}

func instanceOf(d types.DBInstance) Instance {
	i := Instance{
		ID: sdk.ToString(d.DBInstanceIdentifier), ARN: sdk.ToString(d.DBInstanceArn), ResourceID: sdk.ToString(d.DbiResourceId),
		Class: sdk.ToString(d.DBInstanceClass), Engine: sdk.ToString(d.Engine), Version: sdk.ToString(d.EngineVersion),
		Status:  sdk.ToString(d.DBInstanceStatus),
		Storage: Storage{sdk.ToString(d.StorageType), int(sdk.ToInt32(d.AllocatedStorage)), int(sdk.ToInt32(d.Iops)), int(sdk.ToInt32(d.StorageThroughput))},
		MultiAZ: sdk.ToBool(d.MultiAZ), Zone: sdk.ToString(d.AvailabilityZone),
		Source: sdk.ToString(d.ReadReplicaSourceDBInstanceIdentifier), Replicas: d.ReadReplicaDBInstanceIdentifiers,
		Cluster: sdk.ToString(d.DBClusterIdentifier), Tier: int(sdk.ToInt32(d.PromotionTier)), Pending: pendingOf(d.PendingModifiedValues), Tags: rdsTagsOf(d.TagList),
		Created: sdk.ToTime(d.InstanceCreateTime),
	}
	if e := d.Endpoint; e != nil && e.Address != nil {
		i.Endpoint = *e.Address + ":" + strconv.Itoa(int(sdk.ToInt32(e.Port)))
	}
	if len(d.DBParameterGroups) > 0 {
		i.ParameterGroup, i.ParameterStatus = sdk.ToString(d.DBParameterGroups[0].DBParameterGroupName), sdk.ToString(d.DBParameterGroups[0].ParameterApplyStatus)
	}
	return i
}

// The names of pending values on which Plimsoll decides.
const (
	PendingClass      = "DBInstanceClass"
	PendingSize       = "AllocatedStorage"
	PendingType       = "StorageType"
	PendingIOPS       = "Iops"
	PendingThroughput = "StorageThroughput"
)

func pendingOf(p *types.PendingModifiedValues) map[string]string {
	if p == nil {
		return nil
	}
	all := map[string]string{}
	text := func(name string, v *string) {
		if v != nil {
			all[name] = *v
		}
	}
	number := func(name string, v *int32) {
		if v != nil {
			all[name] = strconv.Itoa(int(*v))
		}
	}
	text(PendingClass, p.DBInstanceClass)
	text("DBInstanceIdentifier", p.DBInstanceIdentifier)
	text("EngineVersion", p.EngineVersion)
	text("CACertificateIdentifier", p.CACertificateIdentifier)
	text(PendingType, p.StorageType)
	number(PendingSize, p.AllocatedStorage)
	number(PendingIOPS, p.Iops)
	number(PendingThroughput, p.StorageThroughput)
	number("Port", p.Port)
	number("BackupRetentionPeriod", p.BackupRetentionPeriod)
	if p.MultiAZ != nil {
		all["MultiAZ"] = strconv.FormatBool(*p.MultiAZ)
	}
	if p.MasterUserPassword != nil {
		all["MasterUserPassword"] = "a new one"
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
