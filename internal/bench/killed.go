package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"time"

	"plimsoll/engine"
)

// watchKilled kills, again and again, processes that write series, and a watch that collects them.
func watchKilled(ctx context.Context, o options) error {
	begun := time.Now()
	cmd := exec.CommandContext(ctx, "go", "test", "./watch/store", "-run", "^TestKilled", "-count=1", "-v", "-timeout", "30m")
	cmd.Env = append(os.Environ(), fmt.Sprintf("PLIMSOLL_TEST_KILLS=%d", kills))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kill the store: %w: %s", err, out)
	}
	fmt.Printf("kill -9 of a process that writes, %d times at random, and %[1]d times of one whose store makes blocks all the time: the store opened each time, and held all that had been written (%s).\n\n", kills, time.Since(begun).Round(time.Second))
	return o.onRecorded(ctx, o.killedOn)
}

// kills of each kind.
const kills = 100

// longestLife is how long a watch lives at most after it has answered.
const longestLife = 3 * time.Second

// killedOn kills plimsoll watch while it collects. What it had shown before is there when the next one has opened the store.
func (o options) killedOn(ctx context.Context, folder string, target engine.Target) error {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	_ = free.Close() // for the watch
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	begun := time.Now()
	var last, missing time.Duration // of the newest sample before the kill, since 1970; and how much was missing at most
	for n := range kills + 1 {
		p, err := o.watchProcess(ctx, folder, target, "", "--listen", address)
		if err != nil {
			return err
		}
		since := time.Duration(time.Now().UnixNano())
		first, err := newest(ctx, address, since)
		if err != nil {
			_ = p.cmd.Process.Kill() // what went wrong is told
			_ = p.cmd.Wait()
			return fmt.Errorf("after %d kills (seed %d): %w", n, seed, err)
		}
		if n > 0 {
			kept, err := samplesOf(ctx, address, last)
			if err != nil {
				return fmt.Errorf("after %d kills (seed %d) the samples of before cannot be read: %w", n, seed, err)
			}
			if len(kept) == 0 {
				return fmt.Errorf("after %d kills (seed %d) the samples of before are not there", n, seed)
			}
			missing = max(missing, last-kept[len(kept)-1])
		}
		if n == kills {
			if err := p.stop(); err != nil {
				return err
			}
			break
		}
		last = first
		for until := time.Now().Add(time.Duration(random.Int64N(int64(longestLife)))); ctx.Err() == nil && time.Now().Before(until); {
			if seen, err := newest(ctx, address, 0); err == nil {
				last = seen
			}
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()         // killed
	}
	fmt.Printf("kill -9 of plimsoll watch while it collects, %d times at random (seed %d): the store opened each time, and of the samples that it had shown before at most **%s** were missing (%s). Goal: the last seconds.\n\n", kills, seed, missing, time.Since(begun).Round(time.Second))
	return nil
}

// watchedSeries is one that a watch reads every second.
const watchedSeries = "mysql_global_status_questions"

// newest is the time of the newest sample, since 1970, once there is one after a time.
func newest(ctx context.Context, address string, after time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		all, err := samplesOf(ctx, address, time.Duration(time.Now().UnixNano()))
		if err == nil && len(all) > 0 && all[len(all)-1] > after {
			return all[len(all)-1], nil
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("the watch shows no new sample: %w", errors.Join(err, ctx.Err()))
		case <-again.C:
		}
	}
}

// samplesOf are the times of the samples of half a minute up to a time, since 1970.
func samplesOf(ctx context.Context, address string, to time.Duration) ([]time.Duration, error) {
	form := url.Values{"query": {watchedSeries + "[30s]"}, "time": {fmt.Sprintf("%.3f", to.Seconds())}}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/v1/query?"+form.Encode(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	var got struct {
		Data struct {
			Result []struct{ Values [][2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&got); err != nil {
		return nil, err
	}
	var all []time.Duration
	for _, series := range got.Data.Result {
		for _, v := range series.Values {
			if at, ok := v[0].(float64); ok {
				all = append(all, time.Duration(at*1000+0.5)*time.Millisecond)
			}
		}
	}
	return all, nil
}
