package aws

import (
	"context"
	"fmt"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"

	"plimsoll/hint"
)

// Endpoint is a custom endpoint of a cluster of Aurora: a name by which applications reach some of its instances. It has one of two
// lists: of its members, or of those that are none, and then every other instance is a member, a new one as soon as it is available.
// The cluster's own reader endpoint has no list: every reader is in it.
type Endpoint struct {
	ID       string
	Status   string // available, modifying
	Static   []string
	Excluded []string
}

// Fixed tells whether the endpoint has a list of its members: a new instance is in it when it is put there.
func (e Endpoint) Fixed() bool { return len(e.Static) > 0 }

// Has tells whether applications reach an instance of the cluster by the endpoint.
func (e Endpoint) Has(instance string) bool {
	if e.Fixed() {
		return slices.Contains(e.Static, instance)
	}
	return !slices.Contains(e.Excluded, instance)
}

// Endpoints returns the custom endpoints of a cluster.
func (r *RDS) Endpoints(ctx context.Context, cluster string) (all []Endpoint, err error) {
	pages := rds.NewDescribeDBClusterEndpointsPaginator(r.client, &rds.DescribeDBClusterEndpointsInput{
		DBClusterIdentifier: &cluster, Filters: []types.Filter{{Name: sdk.String("db-cluster-endpoint-type"), Values: []string{"custom"}}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explain("DescribeDBClusterEndpoints", err)
		}
		for _, e := range page.DBClusterEndpoints {
			all = append(all, Endpoint{sdk.ToString(e.DBClusterEndpointIdentifier), sdk.ToString(e.Status), e.StaticMembers, e.ExcludedMembers})
		}
	}
	return all, nil
}

// Admit lets applications reach an instance by an endpoint, or no longer; connections that stand stay. The last member of a fixed list
// is refused to leave: an empty list would mean every instance.
func (r *RDS) Admit(ctx context.Context, e Endpoint, instance string, in bool) error {
	if e.Has(instance) == in {
		return nil
	}
	without := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(m string) bool { return m == instance })
	}
	m := &rds.ModifyDBClusterEndpointInput{DBClusterEndpointIdentifier: &e.ID}
	switch {
	case e.Fixed() && in:
		m.StaticMembers = append(slices.Clone(e.Static), instance)
	case e.Fixed() && len(e.Static) == 1:
		return &hint.PermanentError{
			Reason: fmt.Sprintf("instance %s is the only member of endpoint %s, and without members it would lead to every instance", instance, e.ID),
			Advice: "add another member first: aws rds modify-db-cluster-endpoint --db-cluster-endpoint-identifier " + e.ID + " --static-members " + instance + " " + hint.FillIn,
		}
	case e.Fixed():
		m.StaticMembers = without(e.Static)
	case in:
		m.ExcludedMembers = without(e.Excluded) // [] empties the list, nil would leave it
	default:
		m.ExcludedMembers = append(slices.Clone(e.Excluded), instance)
	}
	_, err := r.client.ModifyDBClusterEndpoint(ctx, m)
	return explain("ModifyDBClusterEndpoint", err)
}

// LastTier is the promotion tier of instances that take over last when a writer fails.
const LastTier = 15

// SetTier sets the place of an instance in the order in which readers take over when the writer fails, 0 to LastTier. It is in force at
// once, and so is everything else that is pending for the instance: look at Instance.Pending before.
func (r *RDS) SetTier(ctx context.Context, id string, tier int) error {
	_, err := r.client.ModifyDBInstance(ctx, &rds.ModifyDBInstanceInput{DBInstanceIdentifier: &id, PromotionTier: sdk.Int32(int32(tier)), ApplyImmediately: sdk.Bool(true)})
	return explain("ModifyDBInstance", err)
}
