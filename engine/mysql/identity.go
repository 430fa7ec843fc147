package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plimsoll/engine"
	"plimsoll/engine/mysql/admin"
)

var _ engine.Identifiable = (*database)(nil)

// Identity is the server's own uuid. MariaDB has none, or one made of its network card and its port: there it is all by which two
// servers differ, which one server alone says of itself by every address.
func (d *database) Identity(ctx context.Context) (string, error) {
	shown, err := d.shown(ctx, admin.Variables(
		"server_uuid", "aurora_server_id", "server_uid", "server_id", "hostname", "port", "socket", "datadir"))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the server's identity: %w", err)
	case shown["aurora_server_id"] != "":
		return "aurora_server_id " + shown["aurora_server_id"], nil
	case shown["server_uuid"] != "":
		return "server_uuid " + shown["server_uuid"], nil
	}
	var parts []string
	for _, name := range []string{"server_id", "hostname", "port", "datadir", "socket", "server_uid"} {
		if v := shown[name]; v != "" {
			parts = append(parts, name+" "+v)
		}
	}
	if len(parts) == 0 {
		return "", errors.New("read the server's identity: it shows none")
	}
	return strings.Join(parts, ", "), nil
}
