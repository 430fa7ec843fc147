// Package aws reaches what runs at AWS: instances of RDS, clusters of Aurora, instances and volumes of EC2, and what may be asked of them.
//
// It is the one package that knows the AWS SDK. None of RDS's operations has an idempotency token, a status of "available" may still be
// the one from before an accepted change, and an accepted request may do nothing. So what is done is told by properties: see Await.
package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"

	"plimsoll/hint"
	"plimsoll/infra/aws/record"
)

// Options say which account and region are meant. Credentials are those that the AWS command line would use: environment, profile,
// instance role, single sign-on. Plimsoll keeps none.
type Options struct {
	Region  string // "": as the environment or the profile says
	Profile string // "": the default one
	// Endpoint is in place of AWS's own: a stand-in for tests, which needs no credentials. The SDK's own AWS_ENDPOINT_URL works too.
	Endpoint  string
	Transport http.RoundTripper // nil: the SDK's own
	Every     time.Duration     // between two looks at what is being changed; 0: whoever waits decides
}

// RDS asks and changes the databases of one account in one region. It is safe for concurrent use.
type RDS struct {
	Region string
	Every  time.Duration // as in Options
	client *rds.Client
}

// OpenRDS readies the API. It asks nothing yet.
func OpenRDS(ctx context.Context, o Options) (*RDS, error) {
	c, err := configure(ctx, o)
	if err != nil {
		return nil, err
	}
	return &RDS{Region: c.Region, Every: o.Every, client: rds.NewFromConfig(c)}, nil
}

// configure reads the person's configuration.
func configure(ctx context.Context, o Options) (c sdk.Config, err error) {
	loads := []func(*config.LoadOptions) error{
		// AWS throttles whole accounts: retry with growing pauses, and slow down by itself when it is throttled.
		config.WithRetryer(func() sdk.Retryer { return retry.NewAdaptiveMode() }),
		config.WithLogger(logging.Nop{}), // what the library tries is its own matter: what a person can do is in the error
	}
	if o.Region != "" {
		loads = append(loads, config.WithRegion(o.Region))
	}
	if o.Profile != "" {
		loads = append(loads, config.WithSharedConfigProfile(o.Profile))
	}
	if o.Transport != nil {
		loads = append(loads, config.WithHTTPClient(&http.Client{Transport: o.Transport}))
	}
	if o.Endpoint != "" {
		loads = append(loads, config.WithBaseEndpoint(o.Endpoint), config.WithCredentialsProvider(sdk.AnonymousCredentials{}))
	}
	if c, err = config.LoadDefaultConfig(ctx, loads...); err != nil {
		return c, hint.With(fmt.Errorf("read the AWS configuration: %w", err), "aws configure list shows what the AWS command line would use")
	}
	if c.Region == "" {
		return c, hint.With(errors.New("no AWS region is configured"), "set it in plimsoll.yaml: aws: {region: ap-northeast-2}, or set AWS_REGION")
	}
	if o.Endpoint == "" && c.Credentials != nil {
		c.Credentials = saysNone(c.Credentials)
	}
	return c, recorded(&c)
}

// recorded has what AWS is asked and answers written down, if the person wants that. What gives credentials has its client by then, and
// is not recorded.
func recorded(c *sdk.Config) error {
	path := os.Getenv(record.Variable)
	if path == "" {
		return nil
	}
	folder, err := record.Open(path)
	if err != nil {
		return err
	}
	c.HTTPClient = &record.Client{Folder: folder, Next: c.HTTPClient, Call: func(ctx context.Context) (service, action string) {
		return middleware.GetServiceID(ctx), middleware.GetOperationName(ctx)
	}}
	return nil
}

// ErrNotFound says that there is no instance, cluster or parameter of a name.
var ErrNotFound = errors.New("not found")

// Codes of errors of RDS on which Plimsoll decides.
const (
	codeNoInstance = "DBInstanceNotFound"
	codeNoCluster  = "DBClusterNotFoundFault"
	codeNoGroup    = "DBParameterGroupNotFound"
	codeState      = "InvalidDBInstanceState"
	codeDenied     = "AccessDenied"
	codeDeniedToo  = "AccessDeniedException"
)

// The codes by which the services say that the credentials have ended, and that nobody has them; each way of asking has its own.
var (
	codesExpired = []string{"ExpiredToken", "ExpiredTokenException"}
	codesUnknown = []string{"InvalidClientTokenId", "UnrecognizedClientException", "InvalidSignatureException", "SignatureDoesNotMatch", "MissingAuthenticationToken"}
)

// explain names the operation and adds what a person can do.
func explain(operation string, err error) error {
	if err == nil {
		return nil
	}
	wrapped := fmt.Errorf("%s: %w", operation, err)
	if why := refused("rds:"+operation, wrapped); why != nil {
		return why
	}
	switch code(err) {
	case codeNoInstance, codeNoCluster, codeNoGroup:
		return fmt.Errorf("%s: %w: %w", operation, ErrNotFound, err)
	case codeState:
		return hint.With(wrapped, "wait until the instance is available, then plimsoll runbook resume RUN")
	}
	return wrapped
}

// explainMetrics is explain for what is only read.
func explainMetrics(permission string, err error) error {
	wrapped := fmt.Errorf("%s: %w", permission, err)
	if why := refused(permission, wrapped); why != nil {
		return why
	}
	return wrapped
}

// refused is an error about who asks, with what to do; nil: it is another.
func refused(permission string, err error) error {
	var none *noCredentialsError
	switch is := code(err); {
	case is == codeDenied, is == codeDeniedToo:
		return hint.With(err, "the credentials lack the permission "+permission+" for this resource")
	case slices.Contains(codesExpired, is):
		return hint.With(err, "the credentials have expired: log in again, for example with aws sso login")
	case slices.Contains(codesUnknown, is):
		return hint.With(err, "AWS does not accept the credentials: aws sts get-caller-identity shows whose they are; a clock that is minutes off makes every signature invalid")
	case errors.As(err, &none):
		return hint.With(err, "Plimsoll uses the credentials of the AWS command line: log in, for example with aws sso login or aws configure, or choose others with AWS_PROFILE")
	case isThrottled(err):
		return hint.With(err, "AWS throttled the requests of this account several times in a row: try again in some minutes")
	}
	return nil
}

// isThrottled tells whether a request was refused because there were too many of the account.
func isThrottled(err error) bool {
	_, is := retry.DefaultThrottleErrorCodes[code(err)]
	return is
}

// noCredentialsError says that there are no credentials, or that they cannot be had.
type noCredentialsError struct{ cause error }

func (e *noCredentialsError) Error() string { return e.cause.Error() }
func (e *noCredentialsError) Unwrap() error { return e.cause }

// saysNone has credentials say by their error that there are none.
func saysNone(inner sdk.CredentialsProvider) sdk.CredentialsProvider {
	return sdk.CredentialsProviderFunc(func(ctx context.Context) (sdk.Credentials, error) {
		c, err := inner.Retrieve(ctx)
		if err != nil && ctx.Err() == nil {
			err = &noCredentialsError{err}
		}
		return c, err
	})
}

// IsDenied tells whether the credentials lack the permission for something.
func IsDenied(err error) bool { return slices.Contains([]string{codeDenied, codeDeniedToo}, code(err)) }

// IsBusy tells whether something was refused because the instance is not available: something else is being done to it.
func IsBusy(err error) bool { return code(err) == codeState }

// code is the code of an error of the API; "" if it is none.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
