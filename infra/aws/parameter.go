package aws

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/rds/types"
)

// Parameter is one of a parameter group.
type Parameter struct {
	Name       string
	Value      string // "": the engine's own default
	Static     bool   // it takes a reboot
	Modifiable bool
}

// Parameter returns a parameter of a group; ErrNotFound if the group has none of that name.
func (r *RDS) Parameter(ctx context.Context, group, name string) (Parameter, error) {
	pages := rds.NewDescribeDBParametersPaginator(r.client, &rds.DescribeDBParametersInput{DBParameterGroupName: &group})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return Parameter{}, explain("DescribeDBParameters", err)
		}
		for _, p := range page.Parameters {
			if sdk.ToString(p.ParameterName) == name {
				return Parameter{
					Name: name, Value: sdk.ToString(p.ParameterValue), Static: sdk.ToString(p.ApplyType) == "static", Modifiable: sdk.ToBool(p.IsModifiable),
				}, nil
			}
		}
	}
	return Parameter{}, fmt.Errorf("parameter %s of group %s: %w", name, group, ErrNotFound)
}

// IsDefaultGroup tells the groups that AWS keeps, which nobody can change.
func IsDefaultGroup(group string) bool { return strings.HasPrefix(group, "default.") }

// SetParameter writes a parameter into a group: in force at once if it is dynamic, else after a reboot.
func (r *RDS) SetParameter(ctx context.Context, group string, p Parameter, value string) error {
	method := types.ApplyMethodImmediate
	if p.Static {
		method = types.ApplyMethodPendingReboot
	}
	_, err := r.client.ModifyDBParameterGroup(ctx, &rds.ModifyDBParameterGroupInput{
		DBParameterGroupName: &group,
		Parameters:           []types.Parameter{{ParameterName: &p.Name, ParameterValue: &value, ApplyMethod: method}},
	})
	return explain("ModifyDBParameterGroup", err)
}
