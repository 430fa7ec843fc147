package load

import "context"

// Runner issues a load as Run does, from wherever it is issued: this process, or several on other machines.
type Runner func(ctx context.Context, spec Spec, each func(Second)) (Summary, error)

// Here is the runner that issues a load from this process.
func Here(connect Connect) Runner {
	return func(ctx context.Context, spec Spec, each func(Second)) (Summary, error) {
		return Run(ctx, spec, connect, each)
	}
}
