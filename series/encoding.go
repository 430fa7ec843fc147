package series

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// HdrHistogram's V2 compressed encoding, in base64:
//
//	cookie, length | deflated: cookie, length, 0, digits, lowest, highest, 1.0 | counts
//
// The counts go up to the last that is not zero, as zigzag LEB128; a run of several zeros is its length, negative.
// The library's own code takes some ten times as long, too dear for a program that loads a database at the same time;
// it still reads the histograms of other layouts.
const (
	cookie           = 0x1c849303 | 0x10 // the 1 is the word size, which all writers state so
	compressedCookie = 0x1c849304 | 0x10
	wordSize         = 0xf0
	headerSize       = 40
)

// layout is the part of the header that says what the counts mean: normalizing offset, digits, lowest and highest
// value, conversion ratio.
func layout() []byte {
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint32(b, digits)
	b = binary.BigEndian.AppendUint64(b, 1)
	b = binary.BigEndian.AppendUint64(b, uint64(highest))
	return binary.BigEndian.AppendUint64(b, math.Float64bits(1))
}

type encoder struct {
	plain   []byte
	packed  *bytes.Buffer
	deflate *zlib.Writer
}

func newEncoder() *encoder {
	packed := new(bytes.Buffer)
	return &encoder{packed: packed, deflate: zlib.NewWriter(packed)}
}

// encode appends s to text.
func (e *encoder) encode(text []byte, s Snapshot) []byte {
	e.plain = binary.BigEndian.AppendUint32(e.plain[:0], cookie)
	e.plain = append(e.plain, 0, 0, 0, 0)
	e.plain = append(e.plain, layout()...)
	e.plain = appendCounts(e.plain, s)
	binary.BigEndian.PutUint32(e.plain[4:], uint32(len(e.plain)-headerSize))

	e.packed.Reset()
	e.packed.Write(make([]byte, 8))
	e.deflate.Reset(e.packed)
	_, _ = e.deflate.Write(e.plain) // a buffer takes everything
	_ = e.deflate.Close()
	whole := e.packed.Bytes()
	binary.BigEndian.PutUint32(whole, compressedCookie)
	binary.BigEndian.PutUint32(whole[4:], uint32(len(whole)-8))
	return base64.StdEncoding.AppendEncode(text, whole)
}

func appendCounts(b []byte, s Snapshot) []byte {
	if s.total == 0 {
		return binary.AppendVarint(b, 0)
	}
	next := 0
	for bucket, n := range s.buckets() {
		switch zeros := bucket - next; zeros {
		case 0:
		case 1:
			b = binary.AppendVarint(b, 0)
		default:
			b = binary.AppendVarint(b, -int64(zeros))
		}
		b = binary.AppendVarint(b, n)
		next = bucket + 1
	}
	return b
}

var errDamaged = errors.New("the histogram is damaged")

// decode reads a histogram of any layout.
func decode(text []byte) (Snapshot, error) {
	whole, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(whole) < 8 || binary.BigEndian.Uint32(whole)|wordSize != compressedCookie|wordSize {
		return Snapshot{}, errDamaged
	}
	inflate, err := zlib.NewReader(bytes.NewReader(whole[8:]))
	if err != nil {
		return Snapshot{}, fmt.Errorf("inflate histogram: %w", err)
	}
	limit := headerSize + int64(bucketOf(highest)+1)*binary.MaxVarintLen64
	plain, err := io.ReadAll(io.LimitReader(inflate, limit))
	if err != nil {
		return Snapshot{}, fmt.Errorf("inflate histogram: %w", err)
	}
	if len(plain) < headerSize || binary.BigEndian.Uint32(plain)|wordSize != cookie|wordSize {
		return Snapshot{}, errDamaged
	}
	if !bytes.Equal(plain[8:headerSize], layout()) {
		return decodeForeign(text)
	}
	return parseCounts(plain[headerSize:])
}

func parseCounts(b []byte) (Snapshot, error) {
	h := NewHistogram()
	for bucket := 0; len(b) > 0; {
		n, size := binary.Varint(b)
		if size <= 0 {
			return Snapshot{}, errDamaged
		}
		b = b[size:]
		if n < 0 {
			if n < -int64(len(h.counts)-bucket) {
				return Snapshot{}, errDamaged
			}
			bucket += int(-n)
			continue
		}
		if bucket >= len(h.counts) || n > math.MaxInt64-h.total {
			return Snapshot{}, errDamaged
		}
		h.count(bucket, n)
		bucket++
	}
	return h.Snapshot(), nil
}

// decodeForeign counts each value of another layout at the upper edge of its bucket, as its own tools report it.
func decodeForeign(text []byte) (Snapshot, error) {
	hdr, err := hdrhistogram.Decode(text)
	if err != nil {
		return Snapshot{}, fmt.Errorf("decode histogram: %w", err)
	}
	h := NewHistogram()
	for _, bar := range hdr.Distribution() {
		if bar.Count > 0 {
			h.RecordN(time.Duration(bar.To), bar.Count)
		}
	}
	return h.Snapshot(), nil
}
