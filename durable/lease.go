package durable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Lease is the right to change what it names, until it expires. Its epoch rises whenever it changes hands, so that an
// owner who slept through the end of his lease can be told from the one who has it now.
type Lease struct {
	Name    string
	Holder  string
	Epoch   int64
	Expires time.Time // by the clock of this host
}

// HeldError says who has the lease.
type HeldError struct{ Lease }

func (e HeldError) Error() string { return fmt.Sprintf("%s is held by %s", e.Name, e.Holder) }

// ErrFenced says that a lease went to another holder.
var ErrFenced = errors.New("another process has taken over the lease")

// Acquire takes a lease for a holder, who may have it already: then it is a new epoch all the same. *HeldError if
// another has it, expired or not: it is for a person to break what a holder left behind.
func (s *Store) Acquire(ctx context.Context, name, holder string, ttl time.Duration) (Lease, error) {
	return s.acquire(ctx, name, holder, ttl, never)
}

const never = 100 * 365 * 24 * time.Hour

// acquire also takes the lease of another that ran out some time ago. The store decides at once: nobody prolongs it meanwhile.
func (s *Store) acquire(ctx context.Context, name, holder string, ttl, ago time.Duration) (Lease, error) {
	lease := Lease{Name: name, Holder: holder, Expires: time.Now().Add(ttl)}
	now, err := nowOf(ctx, s)
	if err != nil {
		return lease, err
	}
	err = s.db.row(ctx, `INSERT INTO {leases} (name, holder, epoch, expires) VALUES (?, ?, 1, ?)
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = {leases}.epoch + 1, expires = excluded.expires
		WHERE {leases}.holder = excluded.holder OR {leases}.holder = '' OR {leases}.expires < ?
		RETURNING epoch`, name, holder, now.Add(ttl).UnixMicro(), now.Add(-ago).UnixMicro()).Scan(&lease.Epoch)
	if errors.Is(err, sql.ErrNoRows) {
		held, err := s.Lease(ctx, name)
		if err != nil {
			return held, err
		}
		return held, &HeldError{held}
	}
	if err != nil {
		return lease, fmt.Errorf("take the lease of %s: %w", name, s.options.plainly(err))
	}
	return lease, nil
}

// Renew prolongs a lease. ErrFenced when it is another's or of another epoch by now.
func (s *Store) Renew(ctx context.Context, l Lease, ttl time.Duration) (Lease, error) {
	l.Expires = time.Now().Add(ttl)
	now, err := nowOf(ctx, s)
	if err != nil {
		return l, err
	}
	n, err := s.db.exec(ctx, `UPDATE {leases} SET expires = ? WHERE name = ? AND holder = ? AND epoch = ?`,
		now.Add(ttl).UnixMicro(), l.Name, l.Holder, l.Epoch)
	if err != nil {
		return l, fmt.Errorf("renew the lease of %s: %w", l.Name, err)
	}
	if n == 0 {
		return l, fmt.Errorf("%s: %w", l.Name, ErrFenced)
	}
	return l, nil
}

// Release gives a holder's lease back; that of another stays.
func (s *Store) Release(ctx context.Context, name, holder string) error {
	if _, err := s.db.exec(ctx, `UPDATE {leases} SET holder = '' WHERE name = ? AND holder = ?`, name, holder); err != nil {
		return fmt.Errorf("release the lease of %s: %w", name, err)
	}
	return nil
}

// ReleaseOrphan gives back a lease that ran out and whose holder is no run of this store: what a process left that died when it
// had taken the lease for a run and had not made the run. It tells whether it did.
func (s *Store) ReleaseOrphan(ctx context.Context, name string) (bool, error) {
	now, err := nowOf(ctx, s)
	if err != nil {
		return false, err
	}
	n, err := s.db.exec(ctx, `UPDATE {leases} SET holder = '' WHERE name = ? AND expires < ?
		AND NOT EXISTS (SELECT 1 FROM {runs} r WHERE r.run = {leases}.holder)`, name, now.UnixMicro())
	if err != nil {
		return false, fmt.Errorf("release the lease of %s: %w", name, err)
	}
	return n > 0, nil
}

// Lease returns who has a lease; a free one has no holder.
func (s *Store) Lease(ctx context.Context, name string) (Lease, error) {
	l := Lease{Name: name}
	var expires int64
	err := s.db.row(ctx, `SELECT holder, epoch, expires FROM {leases} WHERE name = ?`, name).Scan(&l.Holder, &l.Epoch, &expires)
	if errors.Is(err, sql.ErrNoRows) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("read the lease of %s: %w", name, err)
	}
	now, err := nowOf(ctx, s)
	if err != nil {
		return l, err
	}
	l.Expires = time.Now().Add(time.UnixMicro(expires).Sub(now))
	return l, nil
}

// nowOf is the time of the store, by which leases run out: the clocks of two hosts differ.
func nowOf(ctx context.Context, s *Store) (time.Time, error) {
	if !s.shared() {
		return time.Now(), nil
	}
	var now int64
	err := s.db.row(ctx, `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`).Scan(&now)
	if err != nil {
		return time.Time{}, fmt.Errorf("ask the store for the time: %w", err)
	}
	return time.UnixMicro(now), nil
}
