package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"plimsoll/analyze"
	"plimsoll/engine"
	"plimsoll/lab"
)

// watchOverhead says what servers under load feel of being watched. Runs of sysbench differ from one another by more than is looked for, so
// one run goes on all the time, and the watch beside it is stopped (SIGSTOP) and let go on in turn: what is compared are neighbouring
// pieces of the same run. What the server's threads of the watch's sessions took, and the watch's process, is counted beside.
func watchOverhead(ctx context.Context, o options) error {
	for _, spec := range []lab.Spec{mariadb, {Name: "bench", Product: "mysql", Config: mariadb.Config}} {
		if err := o.overheadOn(ctx, spec); err != nil {
			return fmt.Errorf("%s: %w", spec.Product, err)
		}
	}
	return nil
}

const (
	piecesPerPair = 12              // pairs of pieces for each of o.pairs
	settling      = 2 * time.Second // after the watch was stopped or goes on, not counted
)

func (o options) overheadOn(ctx context.Context, spec lab.Spec) (err error) {
	target, release, err := o.server(ctx, spec)
	if err != nil {
		return err
	}
	defer release()
	server, err := processOf(ctx, target)
	if err != nil {
		return err
	}
	w, err := o.watchSettled(ctx, target, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop()) }()

	peer := sysbench{target}
	if _, err := peer.run(ctx, "prepare", 4, 0); err != nil {
		return err
	}
	pairs, length := piecesPerPair*o.pairs, time.Duration(o.seconds)*time.Second
	const warmup, spare = 20 * time.Second, 30 * time.Second
	running, endLoad := context.WithCancel(ctx)
	loadEnded := make(chan error, 1)
	go func() {
		_, err := peer.run(running, "run", 16, int((warmup + time.Duration(2*pairs)*(length+settling) + spare).Seconds()))
		loadEnded <- err
	}()
	defer func() {
		endLoad()
		<-loadEnded //nolint:errcheck // it was ended, or its error was returned
	}()
	if err := wait(ctx, warmup); err != nil {
		return err
	}

	var watched, alone [][]analyze.Second
	var servers, own []float64 // shares of a core while it watches
	for pair := range pairs {
		for half := range 2 {
			on := (pair+half)%2 == 0 // watched first in every other pair, so that a drift of the machine favours neither
			if err := w.goOn(on); err != nil {
				return err
			}
			s, err := o.piece(ctx, target, w, length)
			if err != nil {
				return err
			}
			select {
			case err := <-loadEnded:
				loadEnded <- err
				return errors.Join(errors.New("the load ended before the measurement did"), err)
			default:
			}
			if on {
				watched, servers, own = append(watched, s.seconds), append(servers, s.sessions), append(own, s.process)
			} else {
				alone = append(alone, s.seconds)
			}
		}
	}
	ratio := analyze.RatioOf(analyze.Quantity{Rounds: watched, Statistic: analyze.Throughput()}, analyze.Quantity{Rounds: alone, Statistic: analyze.Throughput()},
		analyze.Options{Confidence: 0.95})
	fmt.Printf("%s: throughput of sysbench at 16 connections while it is watched, over without, %d pairs of %s in one run: **%.4f** (95 %%: %.4f to %.4f). Goal: 0.99 and more.\n",
		spec.Product, pairs, length, ratio.Value, ratio.Low, ratio.High)
	fmt.Printf("The server took **%.2f %%** of a core for the watch's two sessions, and the watch's own process %.2f %% (medians). Goal: 0.5 %%.\n\n", 100*median(servers), 100*median(own))
	return w.goOn(true) // a stopped process does not end when it is asked to
}

// watchSettled is a watch of the server that has read everything once.
func (o options) watchSettled(ctx context.Context, target engine.Target, server serverProcess) (watchedServer, error) {
	folder, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return watchedServer{}, err
	}
	process, err := o.watchProcess(ctx, folder, target, "")
	if err != nil {
		return watchedServer{}, errors.Join(err, os.RemoveAll(folder))
	}
	w := watchedServer{process, folder, nil}
	w.sessions, err = server.watchers(ctx)
	if err != nil {
		return watchedServer{}, errors.Join(err, w.stop())
	}
	return w, nil
}

// watchedServer is a watch of one server.
type watchedServer struct {
	watchedProcess
	folder   string
	sessions []string // the server's threads that answer it, by their files in /proc
}

// goOn lets the watch go on, or stops it where it is.
func (w watchedServer) goOn(on bool) error {
	signal := syscall.SIGSTOP
	if on {
		signal = syscall.SIGCONT
	}
	return w.cmd.Process.Signal(signal)
}

func (w watchedServer) stop() error {
	return errors.Join(w.goOn(true), w.watchedProcess.stop(), os.RemoveAll(w.folder))
}

// piece is a piece of the load's run.
type piece struct {
	seconds           []analyze.Second // the queries of each
	sessions, process float64          // shares of a core that the server took for the watch, and the watch itself
}

// piece counts the load's queries, second by second, and the processor time of the watch.
func (o options) piece(ctx context.Context, target engine.Target, w watchedServer, length time.Duration) (s piece, err error) {
	if err := wait(ctx, settling); err != nil {
		return s, err
	}
	sessions, err := connect(ctx, target, 1)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, closeAll(sessions)) }()
	executed := func() (time.Time, int64, error) {
		rows, err := sessions[0].(engine.Tabular).Table(ctx, "SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'") // the watch prepares nothing
		if err != nil {
			return time.Time{}, 0, fmt.Errorf("count queries: %w", err)
		}
		for name, value := range rows[0] {
			if name == "Value" {
				n, err := strconv.ParseInt(value, 10, 64)
				return time.Now(), n, err
			}
		}
		return time.Time{}, 0, fmt.Errorf("count queries: the server showed %v", rows)
	}
	serverBefore, err1 := busy(w.sessions)
	ownBefore, err2 := busy(w.threads())
	begun := time.Now()
	at, count, err3 := executed()
	if err := errors.Join(err1, err2, err3); err != nil {
		return s, err
	}
	for time.Since(begun) < length {
		if err := wait(ctx, time.Second); err != nil {
			return s, err
		}
		now, n, err := executed()
		if err != nil {
			return s, err
		}
		second := analyze.Second{Start: at, Length: now.Sub(at)}
		second.Done = n - count
		s.seconds, at, count = append(s.seconds, second), now, n
	}
	took := time.Since(begun).Seconds()
	serverAfter, err1 := busy(w.sessions)
	ownAfter, err2 := busy(w.threads())
	s.sessions, s.process = (serverAfter-serverBefore).Seconds()/took, (ownAfter-ownBefore).Seconds()/took
	return s, errors.Join(err1, err2)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
