package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/watch"
)

// watchAlert takes the time from a cause, a session count above its limit, to the message that somebody gets.
func watchAlert(ctx context.Context, o options) error {
	target, release, err := o.server(ctx, mariadb)
	if err != nil {
		return err
	}
	defer release()
	told := make(chan time.Time, 16)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "TooMany") && strings.Contains(string(body), "firing") {
			told <- time.Now()
		}
	}))
	defer hook.Close()
	folder, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	rules := folder + "/rules.yml"
	if err := os.WriteFile(rules, []byte("groups: [{name: g, rules: [{alert: TooMany, expr: mysql_global_status_threads_connected > 20}]}]\n"), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(folder+"/hook", []byte(hook.URL+"\n"), 0o600); err != nil {
		return err
	}
	w, err := o.watchProcess(ctx, folder, target, fmt.Sprintf("rules: [%q]\nshipped_rules: false\nrepeat: 1h\nnotify: [{webhook: {file: %q}}]\n", rules, folder+"/hook"))
	if err != nil {
		return err
	}
	defer w.stop() //nolint:errcheck // it was measured
	var took []float64
	for range 3 {
		time.Sleep(12 * time.Second) // it looks, and an alert of before is resolved
		sessions, err := connect(ctx, target, 25)
		if err != nil {
			return err
		}
		begun := time.Now()
		select {
		case at := <-told:
			took = append(took, at.Sub(begun).Seconds())
		case <-time.After(time.Minute):
			return errors.Join(errors.New("nobody was told within a minute"), closeAll(sessions))
		}
		if err := closeAll(sessions); err != nil {
			return err
		}
	}
	fmt.Printf("From the cause of an alert to its webhook, %d times: median **%.1f s**, at most %.1f s. Goal: 15 s.\n\n", len(took), median(took), max(took[0], took[1], took[2]))
	return nil
}

func connect(ctx context.Context, target engine.Target, count int) (all []engine.Session, err error) {
	e, err := catalog.EngineOf(target)
	if err != nil {
		return nil, err
	}
	for range count {
		s, err := e.(engine.Dialer).Dial(ctx, target)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, s)
	}
	return all, nil
}

func closeAll(sessions []engine.Session) error {
	var errs []error
	for _, s := range sessions {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// knownLoad watches a server on which sessions sleep without a pause, and compares the load that is shown.
func (o options) knownLoad(ctx context.Context, schema string, spec lab.Spec) error {
	target, release, err := o.server(ctx, spec)
	if err != nil {
		return err
	}
	defer release()
	const sessions = 8
	all, err := connect(ctx, target, sessions)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	for _, s := range all {
		work.Go(func() {
			for running.Err() == nil {
				_ = s.Exec(running, "SELECT SLEEP(0.8)", nil) // it is cut off at the end
			}
		})
	}
	defer func() {
		stop()
		work.Wait()
		_ = closeAll(all) // the server goes away
	}()
	source, err := catalog.WatchSource(watch.Instance{Name: "bench/n1", Cluster: "bench", Node: "n1"}, target, nil)
	if err != nil {
		return err
	}
	w := watch.New(watch.Config{Sources: []watch.Source{source}})
	length := 6 * time.Duration(o.seconds) * time.Second
	looking, cancel := context.WithTimeout(ctx, length+5*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(looking) }()
	sum, count, from := 0.0, 0.0, time.Now().Add(5*time.Second)
	basis := ""
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for looking.Err() == nil {
		select {
		case <-tick.C:
		case <-looking.Done():
		}
		if i, ok := w.Instance("bench/n1"); ok && i.Load != nil && time.Now().After(from) {
			sum, count, basis = sum+i.Load.AAS, count+1, i.Load.Source
		}
	}
	if err := <-ended; err != nil {
		return err
	}
	fmt.Printf("%d sessions that always do something, performance_schema %s, %s: AAS of %.3f over %.0f s (%s), off by **%.1f %%**. Goal: 5 %% over 60 s.\n",
		sessions, schema, spec.Product, sum/count, count, basis, 100*(sum/count/sessions-1))
	return nil
}
