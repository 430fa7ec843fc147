package mysql

import "encoding/binary"

// cursor reads a packet from left to right. Reading past the end yields zeros and sets short, which is checked once at
// the end: no packet, however broken, makes it panic.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) bytes(n uint64) []byte {
	if uint64(len(c.rest)) < n {
		c.rest, c.short = nil, true
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) uint8() uint8 {
	if len(c.rest) < 1 {
		c.short = true
		return 0
	}
	n := c.rest[0]
	c.rest = c.rest[1:]
	return n
}

func (c *cursor) uint16() uint16 {
	if b := c.bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *cursor) uint32() uint32 {
	if b := c.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *cursor) uint64() uint64 {
	if b := c.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length reads a length-encoded integer. null is the byte 0xfb, which stands for NULL where a text is expected.
func (c *cursor) length() (n uint64, null bool) {
	switch first := c.uint8(); first {
	case 0xfb:
		return 0, true
	case 0xfc:
		return uint64(c.uint16()), false
	case 0xfd:
		low := uint64(c.uint16())
		return low | uint64(c.uint8())<<16, false
	case 0xfe:
		return c.uint64(), false
	case 0xff: // an error packet's mark, never a length
		c.rest, c.short = nil, true
		return 0, false
	default:
		return uint64(first), false
	}
}

// text reads a length-encoded text; nil is NULL.
func (c *cursor) text() []byte {
	n, null := c.length()
	if null {
		return nil
	}
	b := c.bytes(n)
	if b == nil && !c.short {
		b = []byte{}
	}
	return b
}

// untilZero reads a text that ends with a zero byte, or with the packet.
func (c *cursor) untilZero() []byte {
	for i, b := range c.rest {
		if b == 0 {
			text := c.rest[:i]
			c.rest = c.rest[i+1:]
			return text
		}
	}
	text := c.rest
	c.rest = nil
	return text
}

func appendLength(b []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(b, byte(n))
	case n < 1<<16:
		return binary.LittleEndian.AppendUint16(append(b, 0xfc), uint16(n))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	default:
		return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
	}
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(appendLength(b, uint64(len(text))), text...)
}
