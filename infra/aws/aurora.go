package aws

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// Aurora is a cluster of Aurora as the API shows it.
type Aurora struct {
	ID       string
	Engine   string
	Version  string
	Status   string
	Storage  string // how its storage is billed: aurora or aurora-iopt1
	Endpoint string // of the writer, host:port
	Writer   string // the instance that takes writes
	Members  []string
	Tags     map[string]string
	// Shares is the group of clusters that share pages with this one because one was cloned from another; "": there is none.
	Shares string
	// Protected says that AWS refuses to delete it until somebody takes that off.
	Protected bool
}

// Aurora returns a cluster; ErrNotFound if there is none of that name.
func (r *RDS) Aurora(ctx context.Context, id string) (Aurora, error) {
	out, err := r.client.DescribeDBClusters(ctx, &rds.DescribeDBClustersInput{DBClusterIdentifier: &id})
	if err != nil {
		return Aurora{}, explain("DescribeDBClusters", err)
	}
	if len(out.DBClusters) != 1 {
		return Aurora{}, fmt.Errorf("cluster %s: %w", id, ErrNotFound)
	}
	return auroraOf(out.DBClusters[0]), nil
}

// Clones returns the clones of the region that a Plimsoll made and whose deadline is written on them, whatever they are of.
func (r *RDS) Clones(ctx context.Context) (all []Aurora, err error) {
	pages := rds.NewDescribeDBClustersPaginator(r.client, &rds.DescribeDBClustersInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain("DescribeDBClusters", err)
		}
		for _, d := range page.DBClusters {
			if a := auroraOf(d); a.Clone() == nil {
				all = append(all, a)
			}
		}
	}
	return all, nil
}

func auroraOf(d types.DBCluster) Aurora {
	a := Aurora{
		ID: sdk.ToString(d.DBClusterIdentifier), Engine: sdk.ToString(d.Engine), Version: sdk.ToString(d.EngineVersion),
		Status: sdk.ToString(d.Status), Storage: cmp.Or(sdk.ToString(d.StorageType), "aurora"), Tags: rdsTagsOf(d.TagList), Shares: sdk.ToString(d.CloneGroupId),
		Protected: sdk.ToBool(d.DeletionProtection),
	}
	if d.Endpoint != nil {
		a.Endpoint = *d.Endpoint + ":" + strconv.Itoa(int(sdk.ToInt32(d.Port)))
	}
	for _, m := range d.DBClusterMembers {
		a.Members = append(a.Members, sdk.ToString(m.DBInstanceIdentifier))
		if sdk.ToBool(m.IsClusterWriter) {
			a.Writer = sdk.ToString(m.DBInstanceIdentifier)
		}
	}
	return a
}

// Failover makes a reader the writer of its cluster. With the target named it may be asked for again: it comes to the same.
func (r *RDS) Failover(ctx context.Context, cluster, target string) error {
	_, err := r.client.FailoverDBCluster(ctx, &rds.FailoverDBClusterInput{DBClusterIdentifier: &cluster, TargetDBInstanceIdentifier: &target})
	return explain("FailoverDBCluster", err)
}

// CreateMember creates an instance in a cluster: its first is the writer, others are readers.
func (r *RDS) CreateMember(ctx context.Context, cluster, engine string, n NewInstance) error {
	_, err := r.client.CreateDBInstance(ctx, &rds.CreateDBInstanceInput{
		DBInstanceIdentifier: &n.ID, DBClusterIdentifier: &cluster, Engine: &engine, DBInstanceClass: text(n.Class), Tags: rdsTagList(n.Tags), PromotionTier: number(n.Tier),
	})
	return explain("CreateDBInstance", err)
}

// Clone makes a cluster that shares its pages with another until either changes them, for a run's token and until a time. It has no
// instance yet: see CreateMember.
func (r *RDS) Clone(ctx context.Context, source, id, token string, until time.Time) error {
	tags := CloneTags(source, id, token, until)
	_, err := r.client.RestoreDBClusterToPointInTime(ctx, &rds.RestoreDBClusterToPointInTimeInput{
		DBClusterIdentifier: &id, SourceDBClusterIdentifier: &source, RestoreType: sdk.String("copy-on-write"),
		UseLatestRestorableTime: sdk.Bool(true), Tags: rdsTagList(tags),
	})
	return explain("RestoreDBClusterToPointInTime", err)
}

// DeleteCluster deletes a cluster that has no instances any more, without a last snapshot. One that is not there is fine.
func (r *RDS) DeleteCluster(ctx context.Context, id string) error {
	_, err := r.client.DeleteDBCluster(ctx, &rds.DeleteDBClusterInput{DBClusterIdentifier: &id, SkipFinalSnapshot: sdk.Bool(true)})
	if code(err) == codeNoCluster {
		return nil
	}
	return explain("DeleteDBCluster", err)
}
