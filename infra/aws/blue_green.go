package aws

import (
	"context"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// The states of a blue/green deployment on which Plimsoll decides.
const (
	BlueGreenAvailable  = "AVAILABLE"
	BlueGreenSwitching  = "SWITCHOVER_IN_PROGRESS"
	BlueGreenSwitched   = "SWITCHOVER_COMPLETED"
	BlueGreenSwitchFail = "SWITCHOVER_FAILED"
)

// BlueGreen is a copy of an instance that follows it and may take its place and name.
type BlueGreen struct {
	ID, Name, Status, Detail string
	Source, Target           string // ARNs of the instances: today's and the copy, before the switchover
	Tags                     map[string]string
}

// BlueGreen describes a deployment by its name; ErrNotFound if there is none.
func (r *RDS) BlueGreen(ctx context.Context, name string) (BlueGreen, error) {
	out, err := r.client.DescribeBlueGreenDeployments(ctx, &rds.DescribeBlueGreenDeploymentsInput{
		Filters: []types.Filter{{Name: sdk.String("blue-green-deployment-name"), Values: []string{name}}},
	})
	if err != nil {
		return BlueGreen{}, explain("DescribeBlueGreenDeployments", err)
	}
	for _, d := range out.BlueGreenDeployments {
		if sdk.ToString(d.BlueGreenDeploymentName) == name {
			return BlueGreen{
				ID: sdk.ToString(d.BlueGreenDeploymentIdentifier), Name: name, Status: sdk.ToString(d.Status), Detail: sdk.ToString(d.StatusDetails),
				Source: sdk.ToString(d.Source), Target: sdk.ToString(d.Target), Tags: rdsTagsOf(d.TagList),
			}, nil
		}
	}
	return BlueGreen{}, fmt.Errorf("blue/green deployment %s: %w", name, ErrNotFound)
}

// NewBlueGreen is a deployment to be made. What is empty is as it is today.
type NewBlueGreen struct {
	Name, Source   string // the ARN of the instance
	Version, Class string
	Tags           map[string]string
}

// CreateBlueGreen makes a copy of an instance that follows it.
func (r *RDS) CreateBlueGreen(ctx context.Context, n NewBlueGreen) error {
	_, err := r.client.CreateBlueGreenDeployment(ctx, &rds.CreateBlueGreenDeploymentInput{
		BlueGreenDeploymentName: &n.Name, Source: &n.Source, TargetEngineVersion: text(n.Version), TargetDBInstanceClass: text(n.Class), Tags: rdsTagList(n.Tags),
	})
	return explain("CreateBlueGreenDeployment", err)
}

// SwitchOver gives the copy the place and the name of the instance, whose own name becomes NAME-old1. What takes longer than the timeout,
// RDS takes back by itself.
func (r *RDS) SwitchOver(ctx context.Context, id string, timeout time.Duration) error {
	_, err := r.client.SwitchoverBlueGreenDeployment(ctx, &rds.SwitchoverBlueGreenDeploymentInput{
		BlueGreenDeploymentIdentifier: &id, SwitchoverTimeout: sdk.Int32(int32(timeout / time.Second)),
	})
	return explain("SwitchoverBlueGreenDeployment", err)
}

// DeleteBlueGreen deletes a deployment, and its copy where that has not taken the instance's place.
func (r *RDS) DeleteBlueGreen(ctx context.Context, d BlueGreen) error {
	in := &rds.DeleteBlueGreenDeploymentInput{BlueGreenDeploymentIdentifier: &d.ID}
	if d.Status != BlueGreenSwitched {
		in.DeleteTarget = sdk.Bool(true)
	}
	_, err := r.client.DeleteBlueGreenDeployment(ctx, in)
	return explain("DeleteBlueGreenDeployment", err)
}

// Rename gives an instance another name, at once; its server restarts, and is reached by an address of the new name.
func (r *RDS) Rename(ctx context.Context, id, name string) error {
	_, err := r.client.ModifyDBInstance(ctx, &rds.ModifyDBInstanceInput{DBInstanceIdentifier: &id, NewDBInstanceIdentifier: &name, ApplyImmediately: sdk.Bool(true)})
	return explain("ModifyDBInstance", err)
}
