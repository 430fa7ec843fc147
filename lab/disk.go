package lab

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll/hint"
	"plimsoll/infra/disk/pace"
	"plimsoll/internal/document"
	"plimsoll/watch/storage"
)

// Unlimited is a disk without limits, to be given others later.
func Unlimited() *pace.Disk { return &pace.Disk{Volume: storage.Volume{Type: "local", GiB: 1}} }

// ParseDisk reads gp2:800GiB, io2:1TiB:20000 with its operations a second, gp3:800GiB:12000:700 with its MiB a second too, and what follows by
// commas: balance=5%, scale=1/100, volumes=4, managed.
func ParseDisk(text string) (*pace.Disk, error) {
	d := &pace.Disk{}
	first, rest, _ := strings.Cut(text, ",")
	parts := strings.Split(first, ":")
	if len(parts) < 2 || len(parts) > 4 {
		return nil, hint.With(fmt.Errorf("%q, expected a type and a size", first), "gp2:800GiB, or io2:1TiB:20000 with its operations a second")
	}
	d.Volume.Type = parts[0]
	bytes, err := document.ParseSize(parts[1])
	if err != nil {
		return nil, err
	}
	d.Volume.GiB = float64(bytes) / (1 << 30)
	if len(parts) >= 3 {
		if d.Volume.IOPS, err = strconv.ParseFloat(parts[2], 64); err != nil {
			return nil, fmt.Errorf("%q is not a number of operations per second", parts[2])
		}
	}
	if len(parts) == 4 {
		if d.Volume.MiBs, err = strconv.ParseFloat(parts[3], 64); err != nil || d.Volume.Type != "gp3" {
			return nil, fmt.Errorf("%q is not a throughput in MiB per second of gp3", parts[3])
		}
	}
	for _, part := range strings.FieldsFunc(rest, func(r rune) bool { return r == ',' }) {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "balance":
			var b float64
			b, err = document.ParseShare(value)
			d.Balance = &b
		case "scale":
			d.Scale, err = document.ParseShare(value)
		case "volumes":
			d.Volume.Volumes, err = strconv.Atoi(value)
		case "managed":
			d.Volume.Managed = true
		default:
			err = fmt.Errorf("%q is not an option of a disk", key)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, d.Check()
}
