package superdisk

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Bitmap is the write-intent bitmap of a leg: which chunks may differ between the legs.
type Bitmap struct {
	Chunk         int64 // bytes
	Chunks        int64
	Dirty         int64 // chunks
	EventsCleared int64 // a leg that left before this cannot come back by it
}

const (
	bitmapMagic  = 0x6d746962
	bitmapHeader = 256 // bytes before the bits
)

// ErrNoBitmap says that there is no write-intent bitmap where it should be.
var ErrNoBitmap = errors.New("there is no write-intent bitmap")

// bitmapHead reads the bitmap's header: struct bitmap_super_s of the kernel's md-bitmap.h.
func bitmapHead(data []byte) (Bitmap, error) {
	if len(data) < bitmapHeader || binary.LittleEndian.Uint32(data) != bitmapMagic {
		return Bitmap{}, ErrNoBitmap
	}
	b := Bitmap{EventsCleared: int64(binary.LittleEndian.Uint64(data[32:])), Chunk: int64(binary.LittleEndian.Uint32(data[52:]))}
	if b.Chunk <= 0 {
		return Bitmap{}, ErrNoBitmap
	}
	size := int64(binary.LittleEndian.Uint64(data[40:])) * sector
	b.Chunks = (size + b.Chunk - 1) / b.Chunk
	return b, nil
}

// length is how many bytes the whole bitmap takes.
func (b Bitmap) length() int64 { return bitmapHeader + (b.Chunks+7)/8 }

// ParseBitmap reads a bitmap as it lies on a leg from its Superblock's BitmapOffset.
func ParseBitmap(data []byte) (Bitmap, error) {
	b, err := bitmapHead(data)
	if err != nil {
		return b, err
	}
	if int64(len(data)) < b.length() {
		return b, ErrNoBitmap
	}
	for i, octet := range data[bitmapHeader:b.length()] {
		if beyond := int64(i+1)*8 - b.Chunks; beyond > 0 {
			octet &= 0xff >> beyond
		}
		b.Dirty += int64(bits.OnesCount8(octet))
	}
	return b, nil
}

// Behind is how many bytes a leg that comes back would be given.
func (b Bitmap) Behind() int64 { return b.Dirty * b.Chunk }
