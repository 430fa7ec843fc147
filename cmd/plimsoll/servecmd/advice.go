package servecmd

import (
	"context"
	"io"
	"time"

	"plimsoll/advise"
	"plimsoll/cmd/plimsoll/advisecmd"
	"plimsoll/cmd/plimsoll/console"
	"plimsoll/lab"
	"plimsoll/web"
)

// servedLook is how long the page looks at a database before it advises.
const servedLook = 30 * time.Second

// servedAdvice is plimsoll advise for somebody at the page.
func servedAdvice(deps lab.Deps) web.Advice {
	return web.Advice{
		Lasts:  servedLook,
		Latest: func(cluster string) ([]*advise.Report, error) { return advisecmd.LatestAdvice(deps, cluster) },
		Look: func(ctx context.Context, ask web.AskedAdvice) error {
			o := advisecmd.Options{Class: ask.Class, Volume: ask.Volume}
			o.Span, o.MaxStall = servedLook, 50*time.Millisecond
			_, err := advisecmd.Advised(ctx, console.Streams{Out: io.Discard, Err: io.Discard}, ask.Cluster, o)
			return err
		},
	}
}
