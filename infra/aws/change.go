package aws

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"

	"plimsoll/hint"
)

// TokenTag marks what was created with the token of the intention behind it: creating has no idempotency token of its own.
const TokenTag = "plimsoll:token"

// Modification is what is to become of an instance. What is zero stays as it is.
type Modification struct {
	Class   string
	Storage Storage
}

// Modify asks for a modification at once. That it is accepted says nothing of when it is done, nor that it will be. A modification that
// changes nothing is fine. It applies everybody's pending values too: look at Instance.Pending before.
func (r *RDS) Modify(ctx context.Context, id string, m Modification) error {
	in := &rds.ModifyDBInstanceInput{DBInstanceIdentifier: &id, ApplyImmediately: sdk.Bool(true), DBInstanceClass: text(m.Class)}
	in.StorageType, in.AllocatedStorage = text(m.Storage.Type), number(m.Storage.GiB)
	in.Iops, in.StorageThroughput = number(m.Storage.IOPS), number(m.Storage.Throughput)
	_, err := r.client.ModifyDBInstance(ctx, in)
	return explain("ModifyDBInstance", err)
}

// Reboot restarts the server of an instance. With failover, of a Multi-AZ instance, the standby takes over.
func (r *RDS) Reboot(ctx context.Context, id string, failover bool) error {
	in := &rds.RebootDBInstanceInput{DBInstanceIdentifier: &id}
	if failover {
		in.ForceFailover = sdk.Bool(true)
	}
	_, err := r.client.RebootDBInstance(ctx, in)
	return explain("RebootDBInstance", err)
}

// NewInstance is an instance to be created.
type NewInstance struct {
	ID    string
	Class string // "": as the source
	Tags  map[string]string
	Tier  int // of a member of Aurora, see SetTier; 0: as AWS chooses, which is 1
}

// CreateReplica creates a read replica of an instance.
func (r *RDS) CreateReplica(ctx context.Context, source string, n NewInstance) error {
	_, err := r.client.CreateDBInstanceReadReplica(ctx, &rds.CreateDBInstanceReadReplicaInput{
		DBInstanceIdentifier: &n.ID, SourceDBInstanceIdentifier: &source, DBInstanceClass: text(n.Class), Tags: rdsTagList(n.Tags),
	})
	return explain("CreateDBInstanceReadReplica", err)
}

// Promote makes a standalone instance of a read replica. It cannot be undone.
func (r *RDS) Promote(ctx context.Context, id string) error {
	_, err := r.client.PromoteReadReplica(ctx, &rds.PromoteReadReplicaInput{DBInstanceIdentifier: &id})
	return explain("PromoteReadReplica", err)
}

// Delete deletes an instance. One that is not there is fine. Its automated backups stay for as long as they were to be kept. Of what has
// data of its own, which is neither a read replica nor a member of Aurora, a last snapshot is taken: AWS takes none of the others.
func (r *RDS) Delete(ctx context.Context, i Instance) error {
	in := &rds.DeleteDBInstanceInput{DBInstanceIdentifier: &i.ID, SkipFinalSnapshot: sdk.Bool(true)}
	if i.Cluster == "" { // else the backups are the cluster's
		in.DeleteAutomatedBackups = sdk.Bool(false)
	}
	if i.Cluster == "" && i.Source == "" {
		in.SkipFinalSnapshot = sdk.Bool(false)
		in.FinalDBSnapshotIdentifier = sdk.String(i.ID + "-final-" + time.Now().UTC().Format("20060102-150405"))
	}
	_, err := r.client.DeleteDBInstance(ctx, in)
	if code(err) == codeNoInstance {
		return nil
	}
	return explain("DeleteDBInstance", err)
}

// Event is something that AWS says of an instance or a cluster.
type Event struct {
	Time       time.Time `json:"time"`
	Categories []string  `json:"categories"`
	Message    string    `json:"message"`
}

// Events are what AWS said of an instance since a time, at most 14 days ago.
func (r *RDS) Events(ctx context.Context, id string, since time.Time) ([]Event, error) {
	out, err := r.client.DescribeEvents(ctx, &rds.DescribeEventsInput{SourceIdentifier: &id, SourceType: "db-instance", StartTime: &since})
	if err != nil {
		return nil, explain("DescribeEvents", err)
	}
	var events []Event
	for _, e := range out.Events {
		events = append(events, Event{sdk.ToTime(e.Date), e.EventCategories, sdk.ToString(e.Message)})
	}
	return events, nil
}

// Look asks how far something is: done, or what it still waits for.
type Look func(ctx context.Context) (done bool, waitsFor string, err error)

// agreed is how many looks in a row must say that something is done: for a minute after a change was accepted the API shows what was
// before, and a reader may be ahead of the next.
const agreed = 3

// Await looks until something is done, which several looks in a row must say. Errors of a look count as not done, for as long as ctx
// lasts; the last of them is in the error when it ends. What waiting does not mend ends it at once: a refusal, a permission that is
// lacking, and an instance that is stuck.
func Await(ctx context.Context, every time.Duration, tell func(waitsFor string), look Look) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	seen, waits := 0, ""
	var last error
	for {
		done, what, err := look(ctx)
		var stopped *StuckError
		var refusal *hint.PermanentError
		switch {
		case asStuck(err, &stopped):
			return stopped
		case errors.As(err, &refusal), IsDenied(err):
			return err
		case err != nil:
			seen, last, waits = 0, err, "an answer: "+err.Error()
		case done:
			seen, last = seen+1, nil
			waits = fmt.Sprintf("the same answer %d times more", agreed-seen)
		default:
			seen, last, waits = 0, nil, what
		}
		if seen == agreed {
			return nil
		}
		tell(waits)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		switch { // of both at once either is chosen above: another look would say no more than that it was cut off
		case ctx.Err() == nil:
		case last != nil:
			return fmt.Errorf("wait: %w: %w", context.Cause(ctx), last)
		default:
			return fmt.Errorf("wait for %s: %w", waits, context.Cause(ctx))
		}
	}
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n int) *int32 {
	if n == 0 {
		return nil
	}
	return sdk.Int32(int32(n))
}
