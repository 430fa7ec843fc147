//go:build linux

package vhost

import (
	"context"
	"encoding/binary"
)

const sector = 512

// The kinds of requests, and how they end.
const (
	reads      = 0
	writes     = 1
	flush      = 4
	identify   = 8
	discard    = 11
	writeZeros = 13

	fine        = 0
	failed      = 1
	unsupported = 2
)

// request is one of a device: what the kernel hands over, to be read and to be written, without the status.
type request struct {
	disk    Disk
	out, in [][]byte
}

// do does it and says how it ended.
func (r request) do(ctx context.Context) (written int, status byte) {
	const head = 16 // type, reserved, sector
	if len(r.out) == 0 || len(r.out[0]) < head {
		return 0, failed
	}
	kind := binary.LittleEndian.Uint32(r.out[0])
	offset := int64(binary.LittleEndian.Uint64(r.out[0][8:])) * sector
	var err error
	switch kind {
	case reads:
		if err = r.disk.Read(ctx, r.in, offset); err == nil {
			written = size(r.in)
		}
	case writes:
		if r.out[0] = r.out[0][head:]; len(r.out[0]) == 0 {
			r.out = r.out[1:]
		}
		err = r.disk.Write(ctx, r.out, offset)
	case flush:
		err = r.disk.Flush(ctx)
	case identify:
		if len(r.in) == 1 {
			clear(r.in[0])
			written = copy(r.in[0], r.disk.Serial())
		}
	case discard, writeZeros:
		err = r.zero(ctx)
	default:
		return 0, unsupported
	}
	if err != nil {
		return written, failed
	}
	return written, fine
}

// zero does ranges: sector, number of sectors, flags, sixteen bytes each.
func (r request) zero(ctx context.Context) error {
	const size = 16
	for _, ranges := range r.out[1:] {
		for ; len(ranges) >= size; ranges = ranges[size:] {
			from := int64(binary.LittleEndian.Uint64(ranges)) * sector
			if err := r.disk.Zero(ctx, from, int64(binary.LittleEndian.Uint32(ranges[8:]))*sector); err != nil {
				return err
			}
		}
	}
	return nil
}

func size(all [][]byte) (bytes int) {
	for _, p := range all {
		bytes += len(p)
	}
	return bytes
}
