// Package install puts the helper of infra/remote on a machine, over a channel that a program such as ssh or kubectl carries, and starts
// it there.
package install

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"plimsoll/infra/remote"
	"plimsoll/infra/remote/helper"
)

// installer puts the helper on a machine over the channel that it will speak on, if the machine does not have it yet.
type installer struct {
	programs map[string]helper.Program // by what uname -m says
	missing  map[string]error
}

// kernels are the architectures as uname -m names them.
var kernels = map[string]string{"amd64": "x86_64", "arm64": "aarch64"}

func newInstaller(program func(string) (helper.Program, error)) (*installer, error) {
	i := &installer{programs: map[string]helper.Program{}, missing: map[string]error{}}
	for _, architecture := range helper.Architectures {
		p, err := program(architecture)
		if err != nil {
			i.missing[kernels[architecture]] = err
			continue
		}
		i.programs[kernels[architecture]] = p
	}
	if len(i.programs) == 0 {
		for _, err := range i.missing {
			return nil, err
		}
	}
	return i, nil
}

// What the script says before the helper's greeting, each the beginning of a line.
const (
	putWord    = "plimsoll put "    // and the machine's architecture: send the helper
	nobodyWord = "plimsoll kernel " // and system and architecture: there is no helper for it
	nowhere    = "plimsoll nowhere" // no folder that programs can be run in
)

// script is run by the machine's POSIX shell. It takes the first folder of this user's own in which a program can be run (/tmp is
// often mounted noexec), puts the helper there under its hash, if it is not there yet as a whole, and becomes it. One that was
// cut off while it was sent is not put there, and one that stands there cut off is sent anew. The script has no line break and no single
// quote, since ssh hands it to the login shell, whichever that is.
const script = `umask 077; m=$(uname -s)/$(uname -m); case $m in %s *) echo "` + nobodyWord + `$m"; exit 1;; esac; ` +
	`whole() { [ "$(wc -c <"$1")" -eq "$s" ]; }; ` +
	`for d in "$XDG_RUNTIME_DIR" "$HOME/.cache" /var/tmp /tmp /dev/shm; do ` +
	`case $d in /*) ;; *) continue;; esac; [ "$d" = "$HOME/.cache" ] && mkdir -p "$d" 2>/dev/null; ` +
	`d=$d/plimsoll-$(id -u); mkdir "$d" 2>/dev/null; [ -d "$d" ] && [ -O "$d" ] && [ ! -L "$d" ] && [ -w "$d" ] || continue; ` +
	`t=$d/try.$$; { echo "#!/bin/sh"; echo "exit 0"; } 2>/dev/null >"$t" && chmod 700 "$t" && "$t" 2>/dev/null; r=$?; rm -f "$t"; [ $r = 0 ] || continue; ` +
	`p=$d/$h/$n; if [ ! -x "$p" ] || ! whole "$p"; then echo "` + putWord + `$(uname -m)"; mkdir -p "$d/$h" && head -c $s >"$p.$$" && whole "$p.$$" && chmod 700 "$p.$$" && mv "$p.$$" "$p" || { rm -f "$p.$$"; exit 1; }; fi; ` +
	`exec "$p" $a; done; echo "` + nowhere + `"; exit 1`

// script is for a POSIX shell of the other side.
func (i *installer) script() string {
	var cases strings.Builder
	for _, kernel := range []string{"x86_64", "aarch64"} {
		if p, ok := i.programs[kernel]; ok {
			fmt.Fprintf(&cases, "Linux/%s) h=%s; n=%s; s=%d; a=\"%s\";; ", kernel, p.Hash()[:32], p.Name, len(p.Content), strings.Join(p.Args, " "))
		}
	}
	return fmt.Sprintf(script, cases.String())
}

// errNowhere says that a machine has no folder to run the helper in.
var errNowhere = errors.New("the machine has no folder from which the helper can run: tried $XDG_RUNTIME_DIR, ~/.cache, /var/tmp, /tmp and /dev/shm")

// install returns the channel when the helper's greeting is the next that is read from it.
func (i *installer) install(line io.ReadWriteCloser) (io.ReadWriteCloser, error) {
	from := bufio.NewReader(line)
	var chatter strings.Builder // of the login shell
	for {
		text, err := from.ReadString('\n')
		switch {
		case text == remote.Greeting:
			return &greeted{line, io.MultiReader(strings.NewReader(text), from)}, nil
		case strings.HasPrefix(text, putWord):
			p := i.programs[strings.TrimSpace(strings.TrimPrefix(text, putWord))]
			if _, err := line.Write(p.Content); err != nil {
				return nil, fmt.Errorf("send the helper (%s bytes): %w", strconv.Itoa(len(p.Content)), err)
			}
			continue
		case strings.HasPrefix(text, nobodyWord):
			system := strings.TrimSpace(strings.TrimPrefix(text, nobodyWord))
			if _, kernel, _ := strings.Cut(system, "/"); i.missing[kernel] != nil {
				return nil, i.missing[kernel]
			}
			return nil, fmt.Errorf("the machine is %s, expected Linux on x86_64 or aarch64", system)
		case strings.TrimSpace(text) == nowhere:
			return nil, errNowhere
		}
		chatter.WriteString(text)
		if err == nil && chatter.Len() > 64<<10 {
			err = errors.New("too much output before the helper's greeting")
		}
		if err != nil {
			return nil, &remote.SilentError{Said: chatter.String(), Cause: err}
		}
	}
}

// greeted is a channel of which a little was read ahead.
type greeted struct {
	io.ReadWriteCloser
	from io.Reader
}

func (g *greeted) Read(p []byte) (int, error) { return g.from.Read(p) }
