package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"

	"plimsoll/engine"
	"plimsoll/load"
	"plimsoll/workload"
	"plimsoll/workload/random"
)

// client performs the operations of one worker.
type client struct {
	*workload.Connection
	of      *ledger
	account *account
	kinds   []int
	weights random.Weights
	r       *rand.Rand

	letters, text []byte
	scratch       scratch
	args          []engine.Value
	result        engine.Result
}

var _ load.Client = (*client)(nil)

func (c *client) Next() int { return c.weights.Draw(c.r) }

func (c *client) Do(ctx context.Context, operation int) error {
	switch c.kinds[operation] {
	case update:
		return c.update(ctx)
	case read:
		return c.read(ctx)
	}
	return c.write(ctx)
}

// write adds a row. Whatever comes of it is entered.
func (c *client) write(ctx context.Context) error {
	r := row{c.account.worker, c.account.next()}
	e := entry{sum: c.compose(r, 0), acked: inDoubt}
	c.args = c.of.store.insert(c.args[:0], &c.scratch, c.of.book.run, r, 0, c.text)
	err := c.Exec(ctx, insertText, c.args, nil)
	if err == nil {
		e.acked = c.of.book.now()
	}
	c.account.add(e)
	return err
}

// compose makes contents for a row, as text, and returns their checksum.
func (c *client) compose(r row, version int64) uint32 {
	c.letters = random.AppendLetters(c.letters[:0], int(c.of.Length), c.r)
	sum := sumOf(c.of.book.run, r, version, c.letters)
	c.text = content{version, sum, c.letters}.append(c.text[:0])
	return sum
}

// found makes the worker's register, if it did not before.
func (c *client) found(ctx context.Context) error {
	if c.account.tried > 0 {
		return nil
	}
	r := row{c.account.worker, register}
	c.compose(r, 1)
	c.args = c.of.store.insert(c.args[:0], &c.scratch, c.of.book.run, r, 1, c.text)
	if err := c.Exec(ctx, insertText, c.args, nil); err != nil {
		return err
	}
	c.account.tried = 1
	c.confirm(1)
	return nil
}

// update overwrites the worker's register with a higher version than any before, acknowledged or not.
func (c *client) update(ctx context.Context) error {
	c.account.tried++
	r, number := row{c.account.worker, register}, c.account.tried
	c.compose(r, number)
	c.args = c.of.store.overwrite(c.args[:0], &c.scratch, c.of.book.run, r, number, c.text)
	err := c.Exec(ctx, overwriteText, c.args, nil)
	if err == nil {
		c.confirm(number)
	}
	return err
}

func (c *client) confirm(number int64) {
	c.account.confirm(version{number, c.of.book.now(), c.of.book.breaks.Load()})
}

// Reconnect tries once to get a new session. What stands in registers since before may have been lost: reads of them find
// nothing stale until they are overwritten.
func (c *client) Reconnect(ctx context.Context) error {
	c.of.book.breaks.Add(1)
	return c.Connection.Reconnect(ctx)
}

// far is how many writes back a read looks at most.
const far = 100

// read looks at what some worker wrote, mostly its last: what is there must be no older than what was acknowledged before.
func (c *client) read(ctx context.Context) error {
	a := c.of.book.other(c.r.IntN)
	if a == nil {
		a = c.account
	}
	if c.of.Updates > 0 && c.r.IntN(2) == 0 {
		return c.readRegister(ctx, a)
	}
	back := 0
	if c.r.IntN(2) == 0 {
		back = c.r.IntN(far)
	}
	number, e, any := a.recent(int64(back))
	if !any {
		number, e = 0, entry{acked: inDoubt} // nothing was acknowledged: nothing must be there
	}
	at := c.of.book.now()
	there, text, err := c.look(ctx, row{a.worker, number})
	switch {
	case err != nil || e.acked == inDoubt:
		return err
	case !there:
		c.of.book.missed(row{a.worker, number}, at)
		return nil
	case !c.intact(row{a.worker, number}, text, e.sum):
		c.of.book.spoilt(row{a.worker, number}, e.acked)
		return corrupt(row{a.worker, number})
	}
	return nil
}

// readRegister looks at a register.
func (c *client) readRegister(ctx context.Context, a *account) error {
	r, known := row{a.worker, register}, a.latest()
	at, sure := c.of.book.now(), known.number > 0 && known.breaks == c.of.book.breaks.Load()
	there, text, err := c.look(ctx, r)
	if err != nil {
		return err
	}
	seen, readable := parseContent(text)
	switch {
	case there && (!readable || !seen.intact(c.of.book.run, r)):
		c.of.book.spoilt(r, known.acked)
		return corrupt(r)
	case sure && (!there || seen.version < known.number):
		c.of.book.outdated(at)
	}
	return nil
}

// look reads a row.
func (c *client) look(ctx context.Context, r row) (there bool, text []byte, err error) {
	c.args = c.of.store.look(c.args[:0], &c.scratch, c.of.book.run, r)
	c.result.Keep = true
	if err := c.Exec(ctx, lookText, c.args, &c.result); err != nil {
		return false, nil, err
	}
	c.of.book.reads.Add(1)
	if c.result.Rows == 0 {
		return false, nil, nil
	}
	return true, c.of.store.text(&c.result), nil
}

// intact tells whether a text is the contents that were written with this checksum.
func (c *client) intact(r row, text []byte, sum uint32) bool {
	seen, readable := parseContent(text)
	return readable && seen.sum == sum && seen.intact(c.of.book.run, r)
}

func corrupt(r row) error {
	what := fmt.Sprintf("write %d", r.number)
	if r.number == register {
		what = "the register"
	}
	return &engine.Error{Kind: engine.Other, Text: fmt.Sprintf("%s of worker %d differs from what was written", what, r.worker)}
}
