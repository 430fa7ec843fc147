package aws

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"plimsoll/hint"
	"plimsoll/infra"
)

// EC2 asks and changes the instances and volumes of one account in one region. It is safe for concurrent use.
type EC2 struct {
	Region string
	calls  ec2Calls
}

// OpenEC2 readies the API. It asks nothing yet.
func OpenEC2(ctx context.Context, o Options) (*EC2, error) {
	c, err := configure(ctx, o)
	if err != nil {
		return nil, err
	}
	return &EC2{Region: c.Region, calls: callsOf(ec2.NewFromConfig(c))}, nil
}

// Codes of errors of EC2 on which Plimsoll decides.
const (
	codeNoVolume        = "InvalidVolume.NotFound"
	codeBadVolumeID     = "InvalidVolumeID.Malformed"
	codeNoMachine       = "InvalidInstanceID.NotFound"
	codeBadMachineID    = "InvalidInstanceID.Malformed"
	codeVolumeInUse     = "VolumeInUse"
	codeIncorrectState  = "IncorrectState"
	codeNotStoppable    = "IncorrectInstanceState"
	codeNoAttachment    = "InvalidAttachment.NotFound"
	codeOtherZone       = "InvalidVolume.ZoneMismatch"
	codeBadValue        = "InvalidParameterValue"
	codeTooMany         = "AttachmentLimitExceeded"
	codeModifying       = "IncorrectModificationState"
	codeModifiedOften   = "VolumeModificationRateExceeded"
	codeNoModification  = "InvalidVolumeModification.NotFound"
	codeOtherParameters = "IdempotentParameterMismatch"
	codeUnsupported     = "UnsupportedOperation"
	codeNotPermitted    = "OperationNotPermitted"
	codeUnauthorized    = "UnauthorizedOperation"
	codeAuthFailure     = "AuthFailure"
	codeRequestExpired  = "RequestExpired"
)

// explainEC2 names the action and adds what a person can do.
func explainEC2(action string, err error) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf("%s: %w", action, err)
	if why := refused("ec2:"+action, wrapped); why != nil {
		return why
	}
	switch code(err) {
	case codeUnauthorized:
		return hint.With(wrapped, "the credentials lack the permission ec2:"+action+" for this resource")
	case codeAuthFailure, codeRequestExpired:
		return hint.With(wrapped, "aws sts get-caller-identity shows whether the credentials are valid; a clock that is minutes off makes every signature invalid")
	case codeNoMachine, codeBadMachineID:
		return fmt.Errorf("%s: %w: %w", action, infra.ErrNoMachine, err)
	case codeNoVolume, codeBadVolumeID:
		return fmt.Errorf("%s: %w: %w", action, infra.ErrNoVolume, err)
	}
	return wrapped
}

// isCode tells whether an error of the API has one of these codes.
func isCode(err error, codes ...string) bool {
	is := code(err)
	return is != "" && slices.Contains(codes, is)
}

// filters have only what carries these tags described.
func filters(tags map[string]string) (all []types.Filter) {
	for _, t := range ec2TagList(tags) {
		all = append(all, filter("tag:"+*t.Key, literal.Replace(*t.Value)))
	}
	return all
}

func filter(name string, values ...string) types.Filter {
	return types.Filter{Name: sdk.String(name), Values: values}
}

// literal has a filter mean what it says: * and ? are EC2's wildcards.
var literal = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`)
