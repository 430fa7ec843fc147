package launch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/engine"
	"plimsoll/hint"
)

const (
	mib          = int64(1) << 20
	poolSize     = "innodb_buffer_pool_size"
	defaultPool  = 128 * mib
	defaultRedo  = 100 * mib // MariaDB: 96
	emptyDataSet = 256 * mib // without the redo log, with room for temporary files
	mariadbAside = 256 * mib // resident when idle, with performance_schema and an empty pool: 200 (10.11), 290 (11.4)
	mysqlAside   = 640 * mib // likewise: 545 (9.7)
)

// Needs is the buffer pool and what a server takes beside it, and the files it begins with.
func (Servers) Needs(n engine.Node) (engine.Needs, error) {
	s, err := settingsOf(n)
	if err != nil {
		return engine.Needs{}, err
	}
	if _, off := s["skip_log_bin"]; off && n.Size > 1 && !n.Alone {
		return engine.Needs{}, hint.With(errors.New("log_bin is off, but replicas read the primary's binary log"),
			"leave log_bin out, or use one node")
	}
	pool, err := s.bytes(poolSize, defaultPool)
	if err != nil {
		return engine.Needs{}, err
	}
	redo := defaultRedo
	for _, name := range []string{"innodb_log_file_size", "innodb_redo_log_capacity"} {
		if redo, err = s.bytes(name, redo); err != nil {
			return engine.Needs{}, err
		}
	}
	return engine.Needs{Memory: pool + aside(n.Dist.Product), Disk: redo + emptyDataSet, Setting: poolSize}, nil
}

// aside is what a server takes beside its buffer pool.
func aside(product string) int64 {
	if product == mysqlProduct {
		return mysqlAside
	}
	return mariadbAside
}

// poolWithin is the buffer pool for a node that may use so much memory: nine tenths of what the server leaves, because the
// pool takes control blocks beside its pages.
func poolWithin(n engine.Node) int64 {
	return (n.Memory - aside(n.Dist.Product)) / 10 * 9 / mib * mib
}

// bytes reads a size as servers do: a number with K, M, G, T, P or E.
func (s settings) bytes(name string, otherwise int64) (int64, error) {
	text, set := s[name]
	if !set {
		return otherwise, nil
	}
	digits, shift := strings.TrimSpace(text), 0
	if at := strings.IndexByte("KMGTPE", upper(digits)); at >= 0 {
		digits, shift = digits[:len(digits)-1], 10*(at+1)
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n<<shift>>shift != n {
		return 0, hint.With(fmt.Errorf("%s is %q, expected a size", name, text), "such as 512M or 4G")
	}
	return n << shift, nil
}

// upper is the last letter of a text as a capital, 0 if there is none.
func upper(s string) byte {
	if s == "" {
		return 0
	}
	return strings.ToUpper(s[len(s)-1:])[0]
}
