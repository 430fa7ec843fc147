package launch

import (
	"context"
	"path"
	"strings"

	"plimsoll/engine/fetch"
)

// fromDebian gets a server's package, and writes the script that starts it.
func fromDebian(suite, pkg string) getter {
	return func(ctx context.Context, f *fetch.Job) (string, map[string]string, error) {
		origin, loader, err := fetch.Debian{Suite: suite, Package: pkg}.Unpack(ctx, f)
		if err != nil {
			return "", nil, err
		}
		program := strings.TrimSuffix(pkg, "-server-core") + "d" // mysqld, mariadbd
		script := fetch.Script(loader, "usr/sbin/"+program, "usr/lib/mysql/private")
		if err := f.WriteFile(ctx, path.Join(f.Root(), program), []byte(script), 0o755); err != nil {
			return "", nil, err
		}
		return origin, map[string]string{
			serverPath: program, basePath: "usr", sharePath: "usr/share/mysql", messagesPath: "usr/share/mysql",
			charsetsPath: "usr/share/mysql/charsets", pluginsPath: "usr/lib/mysql/plugin",
		}, nil
	}
}
