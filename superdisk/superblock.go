package superdisk

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Where a leg with metadata 1.2 keeps its superblock, in bytes.
const (
	SuperblockOffset = 4096
	SuperblockSize   = 4096
)

const (
	superblockMagic = 0xa92b4efc
	sector          = 512

	featureBitmap    = 1
	featureRecovery  = 2 // MD_FEATURE_RECOVERY_OFFSET
	writeMostlyFlag  = 1
	roleSpare        = 0xffff
	roleFaulty       = 0xfffe
	largestArray     = 16 // of legs that we look at
	fieldsBeforeRole = 256
)

// Superblock is what a leg says of itself and of its array: metadata 1.2 as it lies on the disk, little-endian, by the
// kernel's include/uapi/linux/raid/md_p.h.
type Superblock struct {
	raw [SuperblockSize]byte
}

var (
	// ErrNoSuperblock says that a device is not a leg of an array.
	ErrNoSuperblock = errors.New("it is not a leg of an array")
	// ErrDamagedSuperblock says that a superblock's checksum is wrong.
	ErrDamagedSuperblock = errors.New("its superblock is damaged: the checksum is wrong")
)

// ParseSuperblock reads the 4096 bytes at SuperblockOffset of a leg.
func ParseSuperblock(data []byte) (Superblock, error) {
	var s Superblock
	if len(data) < SuperblockSize {
		return s, fmt.Errorf("%d bytes of a superblock, expected %d: %w", len(data), SuperblockSize, ErrNoSuperblock)
	}
	copy(s.raw[:], data)
	switch {
	case s.u32(0) != superblockMagic:
		return s, ErrNoSuperblock
	case s.u32(4) != 1:
		return s, fmt.Errorf("its superblock has major version %d, expected 1: %w", s.u32(4), ErrNoSuperblock)
	case s.u32(216) != s.checksum():
		return s, ErrDamagedSuperblock
	}
	return s, nil
}

// Bytes is the superblock as it lies on the disk.
func (s Superblock) Bytes() []byte { return s.raw[:] }

func (s Superblock) u16(at int) uint16 { return binary.LittleEndian.Uint16(s.raw[at:]) }
func (s Superblock) u32(at int) uint32 { return binary.LittleEndian.Uint32(s.raw[at:]) }
func (s Superblock) u64(at int) uint64 { return binary.LittleEndian.Uint64(s.raw[at:]) }

// UUID is the array's, as mdadm writes it.
func (s Superblock) UUID() string { return mdadmUUID(hex.EncodeToString(s.raw[16:32])) }

// Name is the array's, with the home host before a colon.
func (s Superblock) Name() string { return strings.TrimRight(string(s.raw[32:64]), "\x00") }

// Level is the RAID level.
func (s Superblock) Level() int { return int(int32(s.u32(72))) }

// Slots is how many legs the array is to have.
func (s Superblock) Slots() int { return int(s.u32(92)) }

// Size is the data of one leg that the array uses, in bytes.
func (s Superblock) Size() int64 { return int64(s.u64(80)) * sector }

// DataOffset is where the array's data begins on the leg, in bytes.
func (s Superblock) DataOffset() int64 { return int64(s.u64(128)) * sector }

// Events rises with every change of the array's state.
func (s Superblock) Events() int64 { return int64(s.u64(200)) }

// Updated is when it was written, in seconds of the Unix clock.
func (s Superblock) Updated() int64 { return int64(s.u64(192) & (1<<40 - 1)) }

// WriteMostly says that the leg is read only when no other can be.
func (s Superblock) WriteMostly() bool { return s.raw[184]&writeMostlyFlag != 0 }

// Role is what the leg is for, by its write-mostly flag.
func (s Superblock) Role() Role {
	if s.WriteMostly() {
		return Network
	}
	return Local
}

// HasBitmap says that the array records what it writes.
func (s Superblock) HasBitmap() bool { return s.u32(8)&featureBitmap != 0 && s.BitmapOffset() > 0 }

// Recovering says that the leg was being copied to when it was last written to: only what lies before its recovery offset is in step.
func (s Superblock) Recovering() bool { return s.u32(8)&featureRecovery != 0 }

// BitmapOffset is where the write-intent bitmap begins on the leg, in bytes.
func (s Superblock) BitmapOffset() int64 {
	return SuperblockOffset + int64(int32(s.u32(96)))*sector
}

// badBlockLog is where the leg's list of bad blocks lies, in bytes; 0, 0 if it keeps none.
func (s Superblock) badBlockLog() (offset, size int64) {
	size = int64(s.u16(186)) * sector
	if size == 0 {
		return 0, 0
	}
	return SuperblockOffset + int64(int32(s.u32(188)))*sector, size
}

// Slot is the place of this leg in the array; -1 for a spare or one that failed.
func (s Superblock) Slot() int { return s.role(int(s.u32(160))) }

func (s Superblock) role(device int) int {
	if device < 0 || device >= int(s.u32(220)) {
		return -1
	}
	if r := s.u16(fieldsBeforeRole + 2*device); r < roleFaulty {
		return int(r)
	}
	return -1
}

// Filled tells of each slot whether a leg served it when this superblock was written. A leg that left an array that went
// on without it still says that all were there; one that served alone says that it was alone.
func (s Superblock) Filled() []bool {
	filled := make([]bool, max(0, min(s.Slots(), largestArray)))
	for device := range min(int(s.u32(220)), (SuperblockSize-fieldsBeforeRole)/2) {
		if r := s.role(device); r >= 0 && r < len(filled) {
			filled[r] = true
		}
	}
	return filled
}

// ServedAlone says that the leg has served since another leg of the array was lost to it.
func (s Superblock) ServedAlone() bool {
	for _, there := range s.Filled() {
		if !there {
			return true
		}
	}
	return false
}

// Twin is the superblock of another leg for a slot of the same array, as it would be had the leg been there at this moment.
// Put on a device it lets md take the device back with what the bitmap says it lacks, and no more: so all the device's
// data must be this leg's as of this moment, or be recorded in the bitmap.
func (s Superblock) Twin(slot int, device [16]byte) (Superblock, error) {
	number := -1
	for n := range (SuperblockSize - fieldsBeforeRole) / 2 {
		if n != int(s.u32(160)) && s.role(n) < 0 {
			number = n
			break
		}
	}
	if number < 0 || slot < 0 || slot >= s.Slots() || s.Filled()[slot] {
		return s, fmt.Errorf("the array has no slot %d for a leg", slot)
	}
	t := s
	binary.LittleEndian.PutUint32(t.raw[160:], uint32(number))
	copy(t.raw[168:184], device[:])
	t.raw[184] &^= writeMostlyFlag
	binary.LittleEndian.PutUint16(t.raw[fieldsBeforeRole+2*number:], uint16(slot))
	if int(t.u32(220)) <= number {
		binary.LittleEndian.PutUint32(t.raw[220:], uint32(number)+1)
	}
	binary.LittleEndian.PutUint32(t.raw[216:], t.checksum())
	return t, nil
}

// checksum is calc_sb_1_csum of the kernel's md.c: the sum of the words, the checksum's own left out.
func (s Superblock) checksum() uint32 {
	size := fieldsBeforeRole + 2*int(s.u32(220))
	if size > SuperblockSize {
		return 0
	}
	var sum uint64
	at := 0
	for ; size >= 4; size, at = size-4, at+4 {
		if at != 216 {
			sum += uint64(s.u32(at))
		}
	}
	if size == 2 {
		sum += uint64(s.u16(at))
	}
	return uint32(sum&0xffffffff) + uint32(sum>>32)
}

// mdadmUUID writes 32 hexadecimal digits, with or without separators, as mdadm does: four groups with colons.
func mdadmUUID(text string) string {
	digits := strings.NewReplacer("-", "", ":", "").Replace(strings.TrimSpace(text))
	if len(digits) != 32 {
		return digits
	}
	return digits[:8] + ":" + digits[8:16] + ":" + digits[16:24] + ":" + digits[24:]
}
