package series

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
)

// MarshalText writes the snapshot as a text for another process of Plimsoll, exactly. It costs a fraction of what
// HdrHistogram's encoding does, which a file needs and a process that loads a database at the same time should not pay.
func (s Snapshot) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, s.packed), nil
}

// UnmarshalText reads what MarshalText wrote.
func (s *Snapshot) UnmarshalText(text []byte) error {
	packed, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("read histogram: %w", errDamaged)
	}
	if len(packed) == 0 {
		*s = Snapshot{}
		return nil
	}
	read := Snapshot{packed: packed, first: -1}
	for rest, bucket := packed, uint64(0); len(rest) > 0; {
		gap, size := binary.Uvarint(rest)
		if size <= 0 {
			return errDamaged
		}
		n, more := binary.Uvarint(rest[size:])
		bucket += gap
		if more <= 0 || gap > uint64(bucketOf(highest)) || bucket > uint64(bucketOf(highest)) || n > uint64(math.MaxInt64-read.total) ||
			n == 0 || gap == 0 && read.first >= 0 {
			return errDamaged
		}
		rest = rest[size+more:]
		read.total += int64(n)
		if read.first < 0 {
			read.first = int(bucket)
		}
		read.last = int(bucket)
	}
	*s = read
	return nil
}
