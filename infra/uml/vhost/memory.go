//go:build linux

package vhost

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// memory is the machine's, as its kernel has handed it over.
type memory struct{ regions []region }

type region struct {
	start uint64 // address in the machine
	bytes []byte
	whole []byte // as it was mapped
}

// setMemory takes regions in place of those that were there. A body holds their number, and of each address, size, address as
// its user sees it, and where it begins in its file.
func (s *session) setMemory(m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory.unmap()
	le := binary.LittleEndian
	for i := range int(le.Uint32(m.word(0))) {
		at := 8 + 32*i
		start, size, offset := le.Uint64(m.word(at)), le.Uint64(m.word(at+8)), le.Uint64(m.word(at+24))
		fd := m.take(i)
		if fd < 0 {
			return fmt.Errorf("region %d without its file", i)
		}
		whole, err := unix.Mmap(fd, 0, int(size+offset), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		_ = unix.Close(fd) // the mapping stays
		if err != nil {
			return fmt.Errorf("map the machine's memory: %w", err)
		}
		s.memory.regions = append(s.memory.regions, region{start: start, bytes: whole[offset:], whole: whole})
	}
	return nil
}

func (m *memory) unmap() {
	for _, r := range m.regions {
		_ = unix.Munmap(r.whole) // it was mapped
	}
	m.regions = nil
}

// at returns so many bytes from an address of the machine.
func (m *memory) at(address uint64, size int) ([]byte, error) {
	for _, r := range m.regions {
		if address >= r.start && address-r.start <= uint64(len(r.bytes)) && uint64(size) <= uint64(len(r.bytes))-(address-r.start) {
			from := address - r.start
			return r.bytes[from : from+uint64(size) : from+uint64(size)], nil
		}
	}
	return nil, fmt.Errorf("%d bytes at %#x are no memory that was handed over", size, address)
}
