package main

import (
	"context"
	"io"
	"time"

	"plimsoll/advise"
	"plimsoll/lab"
	"plimsoll/web"
)

// servedLook is how long the page looks at a database before it advises.
const servedLook = 30 * time.Second

// servedAdvice is plimsoll advise for somebody at the page.
func servedAdvice(deps lab.Deps) web.Advice {
	return web.Advice{
		Lasts:  servedLook,
		Latest: func(cluster string) (*advise.Report, error) { return latestAdvice(deps, cluster) },
		Look: func(ctx context.Context, ask web.AskedAdvice) error {
			o := adviseOptions{class: ask.Class, volume: ask.Volume, region: "us-east-1"}
			o.span, o.maxStall = servedLook, 50*time.Millisecond
			_, err := advised(ctx, console{out: io.Discard, err: io.Discard}, ask.Cluster, o)
			return err
		},
	}
}
