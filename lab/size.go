package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSize reads a number of bytes as servers and clouds mean it: 512M is 512 MiB, and so is 512MiB.
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
