package document

import (
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes, as servers and clouds mean it: 512M is 512 MiB, and so is 512MiB.
type Size int64

// ParseSize reads one.
func ParseSize(text string) (int64, error) {
	plain := strings.TrimSuffix(text, "iB")
	digits, shift := plain, 0
	if at := strings.IndexAny(plain, "KMGT"); at >= 0 && at == len(plain)-1 {
		digits, shift = plain[:at], 10*(strings.IndexByte("KMGT", plain[at])+1)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n<<shift>>shift != n {
		return 0, fmt.Errorf("%q, expected a size such as 512M or 4G", text)
	}
	return n << shift, nil
}

// UnmarshalDocument reads 512M or 4G.
func (s *Size) UnmarshalDocument(n *Node) error {
	bytes, err := ParseSize(n.Text)
	if err != nil || n.Kind != Scalar {
		return n.Errorf("%s, expected a size such as 512M or 4G", n.Said())
	}
	*s = Size(bytes)
	return nil
}

// DocumentSchema says what a size takes.
func (*Size) DocumentSchema() Schema {
	return Schema{"type": []string{"string", "integer"}, "pattern": "^[0-9]+[KMGT]?$"}
}

// Share is a part of a whole, from 0 to 1.
type Share float64

// ParseShare reads 5 %, 1/100 or 0.05.
func ParseShare(text string) (float64, error) {
	bad := fmt.Errorf("%q, expected a share such as 5%% or 1/100", text)
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	over, under, divided := strings.Cut(number, "/")
	v, err := strconv.ParseFloat(strings.TrimSpace(over), 64)
	if divided && err == nil {
		var by float64
		if by, err = strconv.ParseFloat(strings.TrimSpace(under), 64); err == nil && by == 0 {
			return 0, bad
		}
		v /= by
	}
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v <= 1) {
		return 0, bad
	}
	return v, nil
}

// UnmarshalDocument reads 5 %, 1/100 or 0.05.
func (s *Share) UnmarshalDocument(n *Node) error {
	v, err := ParseShare(n.Text)
	if err != nil || n.Kind != Scalar {
		return n.Errorf("%s, expected a share such as 5 %% or 1/100", n.Said())
	}
	*s = Share(v)
	return nil
}

// DocumentSchema says what a share takes.
func (*Share) DocumentSchema() Schema { return Schema{"type": []string{"string", "number"}} }
