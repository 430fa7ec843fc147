package seed

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// errLeft says that whoever governed the copy is gone.
var errLeft = errors.New("the process that governs the copy has ended")

// Main runs the program: an Order and then Paces come in, Reports go out. It returns when all is copied, or stdin ends.
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	var order Order
	if !lines.Scan() {
		return errors.New("no order")
	}
	if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
		return fmt.Errorf("read the order: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	pace := newBucket(order.Rate)
	go func() { // ends with stdin, which ends with whoever holds its other end
		for lines.Scan() {
			var p Pace
			if json.Unmarshal(lines.Bytes(), &p) == nil {
				pace.set(p.Rate)
			}
		}
		cancel(errLeft)
	}()
	var mu sync.Mutex
	report := func(r Report) {
		mu.Lock()
		defer mu.Unlock()
		line, _ := json.Marshal(r) // numbers and texts
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			cancel(errLeft)
		}
	}
	final, err := order.carryOut(ctx, pace, report)
	if err != nil {
		final.Error = err.Error()
	}
	final.Done = err == nil
	report(final)
	return err
}

func (o Order) carryOut(ctx context.Context, pace *bucket, report func(Report)) (Report, error) {
	all, err := used(o.Mount)
	if err != nil {
		return Report{}, err
	}
	if o.Compare {
		return o.compare(ctx, all, pace, report)
	}
	todo := merge(all, o.From, smallGap)
	c, err := openLegs(o)
	if err != nil {
		return Report{}, err
	}
	defer c.close()
	c.pace, c.report = pace, report
	c.state = Report{Used: total(all), Left: total(todo), Passed: o.From}
	report(c.state)
	err = c.run(ctx, todo)
	return c.state, err
}
