package main

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/catalog"
	"plimsoll/engine"
	"plimsoll/watch"
)

// answers are what a server of MySQL's protocol said: its greeting, and to each text that it was asked all that it sent.
type answers struct {
	Greeting []byte
	To       map[string][]byte
}

// replayVariable has this program be the server of recorded answers: it names their file.
const replayVariable = "BENCH_REPLAY"

// packet reads one packet of the protocol, with its head.
func packet(r io.Reader) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	p := make([]byte, 4+(int(head[0])|int(head[1])<<8|int(head[2])<<16))
	copy(p, head)
	_, err := io.ReadFull(r, p[4:])
	return p, err
}

const comQuery = 3

// record watches a real server once through a proxy that keeps what is asked and answered.
func record(ctx context.Context, target engine.Target) (*answers, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	got := &answers{To: map[string][]byte{}}
	var mu sync.Mutex
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go got.between(client, target.Addresses[0], &mu)
		}
	}()
	through := target
	through.Addresses = []string{l.Addr().String()}
	source, err := catalog.WatchSource(watch.Instance{Name: "bench/n1", Cluster: "bench", Node: "n1"}, through, nil)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	running, cancel := context.WithTimeout(ctx, 12*time.Second)
	defer cancel()
	err = errors.Join(watch.New(watch.Config{Sources: []watch.Source{source}}).Run(running), l.Close())
	mu.Lock()
	defer mu.Unlock()
	if err == nil && len(got.To) < 5 {
		err = fmt.Errorf("only %d answers were recorded", len(got.To))
	}
	return got, err
}

// between hands on what client and server say, and keeps it. After the login a client speaks only when it has had its answer, so that an
// answer is kept whole when the next question comes. Several connections ask the same at the same time: each has its own answer.
func (a *answers) between(client net.Conn, address string, mu *sync.Mutex) {
	defer client.Close() //nolint:errcheck // a recording
	server, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // a recording
	var said []byte      // by the server since it was last spoken to; under mu
	go func() {
		buffer := make([]byte, 1<<16)
		for {
			n, err := server.Read(buffer)
			mu.Lock()
			said = append(said, buffer[:n]...)
			mu.Unlock()
			if _, wrote := client.Write(buffer[:n]); err != nil || wrote != nil {
				return
			}
		}
	}()
	r := bufio.NewReader(client)
	for asked, greeted := "", false; ; {
		p, err := packet(r)
		if err != nil {
			return
		}
		mu.Lock()
		switch {
		case !greeted:
			a.Greeting = slices.Clone(said)
		case asked != "":
			a.To[asked] = slices.Clone(said)
		}
		said, asked, greeted = nil, "", true
		if len(p) > 5 && p[3] == 0 && p[4] == comQuery {
			asked = string(p[5:])
		}
		mu.Unlock()
		if _, err := server.Write(p); err != nil {
			return
		}
	}
}

// player is a process that answers as was recorded.
type player struct {
	cmd     *exec.Cmd
	address string
	file    string
}

// onRecorded measures on a server of recorded answers, with a folder for what is written meanwhile.
func (o options) onRecorded(ctx context.Context, measure func(ctx context.Context, folder string, target engine.Target) error) error {
	target, player, err := o.playRecorded(ctx)
	if err != nil {
		return err
	}
	defer player.stop()
	folder, err := os.MkdirTemp("", "plimsoll-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	target.Addresses = []string{player.address}
	return measure(ctx, folder, target)
}

// playRecorded records what a real MariaDB answers to whoever watches it, and starts a process that answers so in its place.
func (o options) playRecorded(ctx context.Context) (engine.Target, *player, error) {
	target, release, err := o.server(ctx, mariadb)
	if err != nil {
		return target, nil, err
	}
	answers, err := record(ctx, target)
	release()
	if err != nil {
		return target, nil, err
	}
	p, err := play(ctx, answers)
	return target, p, err
}

// play starts a player.
func play(ctx context.Context, a *answers) (*player, error) {
	f, err := os.CreateTemp("", "plimsoll-bench-*.answers")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(gob.NewEncoder(f).Encode(a), f.Close()); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &player{cmd: exec.CommandContext(ctx, self), file: f.Name()}
	p.cmd.Env = append(os.Environ(), replayVariable+"="+f.Name())
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	p.address = strings.TrimSpace(line)
	return p, err
}

func (p *player) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
	_ = os.Remove(p.file)
}

// beReplay is the server of recorded answers, until it is killed.
func beReplay(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	var a answers
	if err := errors.Join(gob.NewDecoder(f).Decode(&a), f.Close()); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	for {
		client, err := l.Accept()
		if err != nil {
			return err
		}
		go a.answer(client)
	}
}

func (a *answers) answer(client net.Conn) {
	defer client.Close() //nolint:errcheck // nobody is left to be told
	if _, err := client.Write(a.Greeting); err != nil {
		return
	}
	r := bufio.NewReader(client)
	if _, err := packet(r); err != nil { // who logs in is welcome
		return
	}
	ok := func(number byte) []byte { return []byte{7, 0, 0, number, 0, 0, 0, 2, 0, 0, 0} }
	say := ok(2)
	for {
		if _, err := client.Write(say); err != nil {
			return
		}
		p, err := packet(r)
		if err != nil || len(p) < 5 || p[4] == 1 { // it quits
			return
		}
		say = ok(1)
		if p[4] == comQuery {
			if known := a.To[string(p[5:])]; len(known) > 0 {
				say = known
			}
		}
	}
}
