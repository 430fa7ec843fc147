package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/lab"
	"plimsoll/watch"
)

// watchedLoad is the section on what a watch shows of real servers: load, and where commits wait.
func watchedLoad(s study) (string, error) {
	length := max(time.Duration(60*s.share)*time.Second, 10*time.Second)
	load := newTable("server", "from", "sessions that always wait", "load that is shown", "off")
	commit := newTable("server", "commit as the server counts it", "redo", "binary log", "queue", "parts beside the whole", "commit as the clients felt it")
	for _, spec := range []lab.Spec{
		{Product: "mariadb", Config: map[string]string{"performance_schema": "OFF"}},
		{Product: "mariadb", Config: map[string]string{"performance_schema": "ON", "log_bin": "ON"}},
		{Product: "mysql"},
	} {
		if err := watchServer(context.Background(), spec, length, load, commit); err != nil {
			return "", fmt.Errorf("%s: %w", spec.Product, err)
		}
	}
	return fmt.Sprintf(`Eight sessions sleep in a real server without a pause, so that its load is eight; the load that a watch shows is its mean over %s. The goal is 5 %%.

%s
Then eight sessions insert a row and commit it, again and again, for as long. The queue is what the parts that are counted leave of the whole, so the parts
can sum to more than the whole and never to less; the goal is 10 %%. MariaDB as it comes counts the files of neither log: they are not shown, and there is no queue. What clients feel has the
way to the server in it, and their own wait for a processor.

%s`, length, load, commit), nil
}

func watchServer(ctx context.Context, spec lab.Spec, length time.Duration, load, commit *table) error {
	home, err := os.MkdirTemp("", "plimsoll-accuracy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	machine, err := catalog.Machine()
	if err != nil {
		return err
	}
	cache, err := lab.Cache(os.Getenv)
	if err != nil {
		return err
	}
	spec.Name = "watched"
	cluster, err := lab.Up(ctx, spec, lab.Deps{Machine: machine, Launchers: catalog.Launchers(), Home: home, Cache: cache})
	if err != nil {
		return err
	}
	defer func() { _ = cluster.Down(context.WithoutCancel(ctx)) }() // its files go with it
	target, err := cluster.Target()
	if err != nil {
		return err
	}
	name := spec.Product
	if spec.Config["performance_schema"] != "" {
		name += ", performance_schema " + spec.Config["performance_schema"]
	}
	const sessions = 8
	sleeping := func(ctx context.Context, s engine.Session) (time.Duration, error) {
		begun := time.Now()
		err := s.Exec(ctx, "SELECT SLEEP(0.8)", nil)
		return time.Since(begun), err
	}
	shown, _, err := underWatch(ctx, target, sessions, length, sleeping)
	if err != nil {
		return err
	}
	load.row(name, shown.basis, fmt.Sprint(sessions), fmt.Sprintf("%.2f", shown.aas), fmt.Sprintf("%+.1f %%", 100*(shown.aas/sessions-1)))
	if shown.basis != "counters" {
		return nil
	}
	if err := prepareCommits(ctx, target); err != nil {
		return err
	}
	committing := func(ctx context.Context, s engine.Session) (time.Duration, error) {
		for _, text := range []string{"BEGIN", "INSERT INTO accuracy.c (v) VALUES (1)"} {
			if err := s.Exec(ctx, text, nil); err != nil {
				return 0, err
			}
		}
		begun := time.Now()
		err := s.Exec(ctx, "COMMIT", nil)
		return time.Since(begun), err
	}
	shown, byClients, err := underWatch(ctx, target, sessions, length, committing)
	if err != nil {
		return err
	}
	c := shown.commit
	if c == nil || c.Total == nil {
		return errors.New("the watch shows no commits")
	}
	sum := 0.0
	in := func(v *float64) string {
		if v == nil {
			return "not shown"
		}
		sum += *v
		return fmt.Sprintf("%.2f ms", *v*1000)
	}
	row := []string{name, fmt.Sprintf("%.2f ms", *c.Total*1000), in(c.Redo), in(c.Binlog), in(c.Queue)}
	beside := "no whole to compare"
	if c.Queue != nil {
		beside = fmt.Sprintf("%+.1f %%", 100*(sum / *c.Total - 1))
	}
	commit.row(append(row, beside, inMillis(byClients))...)
	return nil
}

func prepareCommits(ctx context.Context, target engine.Target) error {
	all, err := sessionsOf(ctx, target, 1)
	if err != nil {
		return err
	}
	defer all[0].Close()
	return errors.Join(all[0].Exec(ctx, "CREATE DATABASE IF NOT EXISTS accuracy", nil), all[0].Exec(ctx, "CREATE TABLE IF NOT EXISTS accuracy.c (id BIGINT PRIMARY KEY AUTO_INCREMENT, v INT)", nil))
}

// sight is what a watch showed.
type sight struct {
	aas    float64
	basis  string
	commit *watch.Commit // of the last reading that has one
}

// underWatch has sessions do something again and again, watches, and returns what was shown on average and how long one took.
func underWatch(ctx context.Context, target engine.Target, sessions int, length time.Duration, do func(context.Context, engine.Session) (time.Duration, error)) (seen sight, mean time.Duration, err error) {
	all, err := sessionsOf(ctx, target, sessions)
	if err != nil {
		return seen, 0, err
	}
	running, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	var mu sync.Mutex
	var took time.Duration
	var times int
	for _, s := range all {
		work.Go(func() {
			for running.Err() == nil {
				one, failed := do(running, s)
				mu.Lock()
				if failed == nil {
					took, times = took+one, times+1
				} else if running.Err() == nil {
					err = errors.Join(err, failed)
					stop()
				}
				mu.Unlock()
			}
		})
	}
	seen, watchErr := lookAt(running, target, length)
	stop()
	work.Wait()
	for _, s := range all {
		_ = s.Close() // the server goes away
	}
	if err = errors.Join(err, watchErr); err != nil || times == 0 {
		return seen, 0, errors.Join(err, errors.New("nothing was done under watch"))
	}
	return seen, took / time.Duration(times), nil
}

// lookAt watches for a while, after a moment in which the first reading reads everything.
func lookAt(ctx context.Context, target engine.Target, length time.Duration) (seen sight, err error) {
	source, err := catalog.WatchSource(watch.Instance{Name: "accuracy/n1", Cluster: "accuracy", Node: "n1"}, target, nil)
	if err != nil {
		return seen, err
	}
	w := watch.New(watch.Config{Sources: []watch.Source{source}})
	const moment = 5 * time.Second
	looking, cancel := context.WithTimeout(ctx, moment+length)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- w.Run(looking) }()
	sum, count, from := 0.0, 0.0, time.Now().Add(moment)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for looking.Err() == nil {
		select {
		case <-tick.C:
		case <-looking.Done():
		}
		i, ok := w.Instance("accuracy/n1")
		if !ok || i.Load == nil || time.Now().Before(from) {
			continue
		}
		sum, count, seen.basis = sum+i.Load.AAS, count+1, i.Load.Source
		if i.Commit != nil && i.Commit.Total != nil {
			seen.commit = i.Commit
		}
	}
	if err := <-ended; err != nil {
		return seen, err
	}
	if count < length.Seconds()/2 {
		return seen, fmt.Errorf("the watch showed a load in %.0f of %.0f seconds", count, length.Seconds())
	}
	seen.aas = sum / count
	return seen, nil
}

func sessionsOf(ctx context.Context, target engine.Target, count int) (all []engine.Session, err error) {
	e, err := catalog.EngineOf(target)
	if err != nil {
		return nil, err
	}
	for range count {
		s, err := e.(engine.Dialer).Dial(ctx, target)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
