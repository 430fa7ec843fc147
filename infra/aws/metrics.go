package aws

import (
	"context"
	"fmt"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/aws-sdk-go-v2/service/pi"
	pitypes "github.com/aws/aws-sdk-go-v2/service/pi/types"
)

// Metrics asks CloudWatch and Performance Insights what they saw of the databases of one account in one region. It is safe for
// concurrent use.
type Metrics struct {
	watch    *cloudwatch.Client
	insights *pi.Client
}

// OpenMetrics readies both APIs. It asks nothing yet.
func OpenMetrics(ctx context.Context, o Options) (*Metrics, error) {
	c, err := configure(ctx, o)
	if err != nil {
		return nil, err
	}
	return &Metrics{watch: cloudwatch.NewFromConfig(c), insights: pi.NewFromConfig(c)}, nil
}

// Metric is a value of a metric of an instance: the mean of the minute that begins at a time; of a cluster, that of the hour.
type Metric struct {
	Instance, Name string
	At             time.Time
	Value          float64
}

// mostQueries is how many metrics one request may ask for.
const mostQueries = 500

// Means returns what CloudWatch has of metrics of instances, minute by minute. The last minutes come late.
func (m *Metrics) Means(ctx context.Context, instances, names []string, from, to time.Time) ([]Metric, error) {
	return m.means(ctx, "DBInstanceIdentifier", time.Minute, instances, names, from, to)
}

// ClusterMeans returns what CloudWatch has of metrics of a cluster of Aurora, hour by hour.
func (m *Metrics) ClusterMeans(ctx context.Context, cluster string, names []string, from, to time.Time) ([]Metric, error) {
	return m.means(ctx, "DBClusterIdentifier", time.Hour, []string{cluster}, names, from, to)
}

func (m *Metrics) means(ctx context.Context, dimension string, each time.Duration, instances, names []string, from, to time.Time) ([]Metric, error) {
	type asked struct{ instance, name string }
	var all []asked
	for _, i := range instances {
		for _, n := range names {
			all = append(all, asked{i, n})
		}
	}
	var found []Metric
	for len(all) > 0 {
		these := all[:min(len(all), mostQueries)]
		all = all[len(these):]
		in := &cloudwatch.GetMetricDataInput{StartTime: &from, EndTime: &to}
		for n, a := range these {
			in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{Id: sdk.String("m" + strconv.Itoa(n)), MetricStat: &types.MetricStat{
				Metric: &types.Metric{Namespace: sdk.String("AWS/RDS"), MetricName: &a.name, Dimensions: []types.Dimension{{Name: &dimension, Value: &a.instance}}},
				Period: sdk.Int32(int32(each.Seconds())), Stat: sdk.String("Average"),
			}})
		}
		pages := cloudwatch.NewGetMetricDataPaginator(m.watch, in)
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, explainMetrics("cloudwatch:GetMetricData", err)
			}
			for _, r := range page.MetricDataResults {
				n, err := strconv.Atoi(sdk.ToString(r.Id)[1:])
				if err != nil || n >= len(these) {
					return nil, fmt.Errorf("GetMetricData returned an unexpected answer: %q", sdk.ToString(r.Id))
				}
				for i, at := range r.Timestamps {
					found = append(found, Metric{these[n].instance, these[n].name, at, r.Values[i]})
				}
			}
		}
	}
	return found, nil
}

// Waiting is how many sessions waited for one thing on average in the minute that begins at a time.
type Waiting struct {
	Event string // as the engine calls it, such as io/table/sql/handler; "CPU"
	At    time.Time
	AAS   float64
}

// Waits returns the load of an instance by what it waits for, as Performance Insights has it. The instance is named by its
// ResourceID. One without Performance Insights has none.
func (m *Metrics) Waits(ctx context.Context, resource string, from, to time.Time) ([]Waiting, error) {
	in := &pi.GetResourceMetricsInput{
		Identifier: &resource, ServiceType: pitypes.ServiceTypeRds, StartTime: &from, EndTime: &to, PeriodInSeconds: sdk.Int32(60),
		MetricQueries: []pitypes.MetricQuery{{Metric: sdk.String("db.load.avg"), GroupBy: &pitypes.DimensionGroup{Group: sdk.String("db.wait_event"), Limit: sdk.Int32(25)}}},
	}
	var all []Waiting
	pages := pi.NewGetResourceMetricsPaginator(m.insights, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, explainMetrics("pi:GetResourceMetrics", err)
		}
		for _, one := range page.MetricList {
			if one.Key == nil || one.Key.Dimensions == nil {
				continue // the sum of them
			}
			for _, p := range one.DataPoints {
				if p.Value != nil && p.Timestamp != nil {
					all = append(all, Waiting{one.Key.Dimensions["db.wait_event.name"], *p.Timestamp, *p.Value})
				}
			}
		}
	}
	return all, nil
}

// NoInsights tells whether an error says that an instance has no Performance Insights.
func NoInsights(err error) bool {
	c := code(err)
	return c == "InvalidArgumentException" || c == "NotAuthorizedException"
}
