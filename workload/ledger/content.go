package ledger

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strconv"
)

// content is what stands in a row: its version, a checksum over the row's name, version and letters, and the letters.
type content struct {
	version int64
	sum     uint32
	letters []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf is the checksum of a row's contents.
func sumOf(run int64, r row, version int64, letters []byte) uint32 {
	var name [32]byte
	for i, part := range []int64{run, int64(r.worker), r.number, version} {
		binary.LittleEndian.PutUint64(name[8*i:], uint64(part))
	}
	return crc32.Update(crc32.Checksum(name[:], castagnoli), castagnoli, letters)
}

func (c content) append(dst []byte) []byte {
	dst = append(strconv.AppendInt(dst, c.version, 10), ' ')
	dst = append(strconv.AppendUint(dst, uint64(c.sum), 16), ' ')
	return append(dst, c.letters...)
}

// parseContent reads what append wrote. It is false for what nobody wrote.
func parseContent(text []byte) (content, bool) {
	version, rest, _ := bytes.Cut(text, []byte(" "))
	sum, letters, found := bytes.Cut(rest, []byte(" "))
	v, err := strconv.ParseInt(string(version), 10, 64)
	s, err2 := strconv.ParseUint(string(sum), 16, 32)
	return content{v, uint32(s), letters}, found && err == nil && err2 == nil
}

// intact tells whether a row's contents are what somebody wrote into it.
func (c content) intact(run int64, r row) bool { return c.sum == sumOf(run, r, c.version, c.letters) }
