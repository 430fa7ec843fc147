package protocol

import "encoding/binary"

// Cursor reads a packet from left to right. Reading past the end yields zeros and sets Short, which is checked once at
// the end: no packet, however broken, makes it panic.
type Cursor struct {
	Rest  []byte
	Short bool
}

func (c *Cursor) Bytes(n uint64) []byte {
	if uint64(len(c.Rest)) < n {
		c.Rest, c.Short = nil, true
		return nil
	}
	b := c.Rest[:n:n]
	c.Rest = c.Rest[n:]
	return b
}

func (c *Cursor) Uint8() uint8 {
	if len(c.Rest) < 1 {
		c.Short = true
		return 0
	}
	n := c.Rest[0]
	c.Rest = c.Rest[1:]
	return n
}

func (c *Cursor) Uint16() uint16 {
	if b := c.Bytes(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (c *Cursor) Uint32() uint32 {
	if b := c.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (c *Cursor) Uint64() uint64 {
	if b := c.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Length reads a length-encoded integer. null is the byte 0xfb, which stands for NULL where a text is expected.
func (c *Cursor) Length() (n uint64, null bool) {
	switch first := c.Uint8(); first {
	case 0xfb:
		return 0, true
	case 0xfc:
		return uint64(c.Uint16()), false
	case 0xfd:
		low := uint64(c.Uint16())
		return low | uint64(c.Uint8())<<16, false
	case 0xfe:
		return c.Uint64(), false
	case 0xff: // an error packet's mark, never a length
		c.Rest, c.Short = nil, true
		return 0, false
	default:
		return uint64(first), false
	}
}

// Text reads a length-encoded text; nil is NULL.
func (c *Cursor) Text() []byte {
	n, null := c.Length()
	if null {
		return nil
	}
	b := c.Bytes(n)
	if b == nil && !c.Short {
		b = []byte{}
	}
	return b
}

// UntilZero reads a text that ends with a zero byte, or with the packet.
func (c *Cursor) UntilZero() []byte {
	for i, b := range c.Rest {
		if b == 0 {
			text := c.Rest[:i]
			c.Rest = c.Rest[i+1:]
			return text
		}
	}
	text := c.Rest
	c.Rest = nil
	return text
}

func AppendLength(b []byte, n uint64) []byte {
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

func AppendText[T string | []byte](b []byte, text T) []byte {
	return append(AppendLength(b, uint64(len(text))), text...)
}
