package aws

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	Allowed    string // values and ranges, as RDS writes them: 1-100000, or ON,OFF; "": RDS does not say
}

// allowedRange is of numbers. RDS writes them with their sign and point.
var allowedRange = regexp.MustCompile(`^(-?[\d.]+)-(-?[\d.]+)$`)

// Allows tells whether RDS would take a value, as far as it says so. Formulas it computes itself.
func (p Parameter) Allows(value string) bool {
	if p.Allowed == "" || strings.ContainsAny(value, "{(") {
		return true
	}
	items := strings.Split(p.Allowed, ",")
	for one := range strings.SplitSeq(value, ",") {
		if !slices.ContainsFunc(items, func(item string) bool { return within(strings.TrimSpace(item), strings.TrimSpace(one)) }) {
			return false
		}
	}
	return true
}

// within tells whether a value is one of RDS's, or in one of its ranges.
func within(item, value string) bool {
	if strings.EqualFold(item, value) {
		return true
	}
	bounds := allowedRange.FindStringSubmatch(item)
	if bounds == nil {
		return false
	}
	var n [3]float64
	for i, text := range []string{bounds[1], bounds[2], value} {
		var err error
		if n[i], err = strconv.ParseFloat(text, 64); err != nil {
			return false
		}
	}
	return n[0] <= n[2] && n[2] <= n[1]
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
					Allowed: sdk.ToString(p.AllowedValues),
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
