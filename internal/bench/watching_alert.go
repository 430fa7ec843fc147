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
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
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
